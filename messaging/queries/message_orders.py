"""The orders of lists of messages."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Sort(StrEnum):
    """The order of a list. `reactions`: most reactions first, then newest."""

    NEWEST = "newest"
    OLDEST = "oldest"
    REACTIONS = "reactions"


class Order(NamedTuple):
    """The columns that a list is ordered by, and the conditions for the rows after and up to a position."""

    by: tuple[str, ...]
    after: str
    up_to: str

    @property
    def clause(self) -> str:
        return "ORDER BY " + ", ".join(f"m.{column}" for column in self.by)

    @property
    def position(self) -> str:
        """The columns of a position."""
        return ", ".join(f"m.{column.removesuffix(' DESC')}" for column in self.by)


# Each order has an index for pages and one for replies (see the model).
ORDERS = {
    Sort.NEWEST: Order(
        ("created_at DESC", "id DESC"), "(m.created_at, m.id) < (%s, %s)", "(m.created_at, m.id) >= (%s, %s)"
    ),
    Sort.OLDEST: Order(("created_at", "id"), "(m.created_at, m.id) > (%s, %s)", "(m.created_at, m.id) <= (%s, %s)"),
    Sort.REACTIONS: Order(
        ("reaction_total DESC", "created_at DESC", "id DESC"),
        "(m.reaction_total, m.created_at, m.id) < (%s::int, %s, %s)",
        "(m.reaction_total, m.created_at, m.id) >= (%s::int, %s, %s)",
    ),
}
