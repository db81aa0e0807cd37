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
    """The columns that a list is ordered by, and the condition for the rows after a position."""

    by: tuple[str, ...]
    after: str


# Each order has an index for pages and one for replies (see the model).
ORDERS = {
    Sort.NEWEST: Order(("created_at DESC", "id DESC"), "(m.created_at, m.id) < (%s, %s)"),
    Sort.OLDEST: Order(("created_at", "id"), "(m.created_at, m.id) > (%s, %s)"),
    Sort.REACTIONS: Order(
        ("reaction_total DESC", "created_at DESC", "id DESC"),
        "(m.reaction_total, m.created_at, m.id) < (%s::int, %s, %s)",
    ),
}
