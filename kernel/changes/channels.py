"""The part of the change log that a reader asks for, as SQL conditions and as a test of a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol
from uuid import UUID

from kernel.changes.rows import ChangeRow


class Selection(Protocol):
    """What `kernel.changes.reading.read` needs of the rows to read."""

    @property
    def condition(self) -> str:
        """The SQL condition that an index serves."""

    @property
    def matches(self) -> str:
        """The SQL condition on the rows that were read."""

    @property
    def values(self) -> Mapping[str, Any]:
        """The values of both conditions."""


@dataclass(frozen=True, slots=True)
class Channel:
    """The rows that a reader asks for: of an account's inbox, of a page, a community or both, or all public ones."""

    account_id: UUID | None = None
    page_id: str | None = None
    community_id: UUID | None = None
    types: frozenset[str] = frozenset()

    def includes(self, row: ChangeRow) -> bool:
        """Whether a row belongs to the channel."""
        return (
            row.account_id == self.account_id
            and (self.page_id is None or row.page_id == self.page_id)
            and (self.community_id is None or row.community_id == self.community_id)
            and (not self.types or row.type in self.types)
        )

    @property
    def condition(self) -> str:
        if self.account_id is not None:
            return "account_id = %(account)s"
        if self.page_id is not None:
            return "account_id IS NULL AND page_id = %(page)s"
        if self.community_id is not None:
            return "account_id IS NULL AND community_id = %(community)s"
        return "true"

    @property
    def matches(self) -> str:
        conditions = [] if self.condition != "true" else ["account_id IS NULL"]
        if self.page_id is not None and self.community_id is not None:
            conditions.append("community_id = %(community)s")
        if self.types:
            conditions.append("type = ANY(%(types)s)")
        return " AND ".join(conditions) or "true"

    @property
    def values(self) -> dict[str, Any]:
        values = {
            "account": self.account_id,
            "page": self.page_id,
            "community": self.community_id,
            "types": sorted(self.types),
        }
        text = self.condition + self.matches
        return {name: value for name, value in values.items() if f"%({name})s" in text}


class WholeLog:
    """Selects every row: the public changes and the events of all inboxes."""

    condition = matches = "true"
    values: Mapping[str, Any] = MappingProxyType({})
