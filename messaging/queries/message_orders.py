"""The orders of lists of messages."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from kernel.api.pagination import Position


class Sort(StrEnum):
    """The order of a list. `reactions`: most reactions first, then newest."""

    NEWEST = "newest"
    OLDEST = "oldest"
    REACTIONS = "reactions"


# PostgreSQL would take the untyped value of a number for text.
TYPES = {"reaction_total": "::int"}


class Order(NamedTuple):
    """The columns that a list is ordered by; `is_descending`: a later row has lower values."""

    columns: tuple[str, ...]
    is_descending: bool

    @property
    def by(self) -> tuple[str, ...]:
        return tuple(f"{column} DESC" if self.is_descending else column for column in self.columns)

    @property
    def clause(self) -> str:
        return "ORDER BY " + ", ".join(f"m.{column}" for column in self.by)

    @property
    def position(self) -> str:
        """The columns of a position."""
        return ", ".join(f"m.{column}" for column in self.columns)

    @property
    def after(self) -> str:
        """The condition for the rows after a position."""
        return self._compared("<" if self.is_descending else ">", "after")

    @property
    def up_to(self) -> str:
        """The condition for the rows up to a position, and that one."""
        return self._compared(">=" if self.is_descending else "<=", "up_to")

    def values(self, name: str, position: Position) -> dict[str, Any]:
        """The values of `after` or `up_to`, which is the name."""
        return {f"{name}_{column}": value for column, value in zip(self.columns, position, strict=True)}

    def _compared(self, operator: str, name: str) -> str:
        values = ", ".join(f"%({name}_{column})s{TYPES.get(column, '')}" for column in self.columns)
        return f"({self.position}) {operator} ({values})"


# Each order has an index for pages and one for replies (see the model).
ORDERS = {
    Sort.NEWEST: Order(("created_at", "id"), is_descending=True),
    Sort.OLDEST: Order(("created_at", "id"), is_descending=False),
    Sort.REACTIONS: Order(("reaction_total", "created_at", "id"), is_descending=True),
}
