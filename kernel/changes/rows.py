"""Rows of the change log and their positions."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from kernel.database.sql import Row


class Position(NamedTuple):
    """The position of a row, or of a reader that has got all rows up to and including it."""

    xid: int
    id: int


# Before all rows; those of a restored log have negative transaction ids.
START = Position(-(2**62), 0)


class Cursor(NamedTuple):
    """A position in one generation of the log."""

    generation: int
    position: Position

    def is_before(self, other: Cursor) -> bool:
        """False of other generations, which have no order."""
        return self.generation == other.generation and self.position < other.position

    def columns(self) -> dict[str, int]:
        """Those of a model that stores it."""
        return {"generation": self.generation, "xid": self.position.xid, "row_id": self.position.id}


class ChangeRow(NamedTuple):
    """A row of the log (see `kernel.changes.models.Change`)."""

    xid: int
    id: int
    type: str
    at: datetime
    page_id: str | None
    community_id: UUID | None
    message_id: UUID | None
    account_id: UUID | None
    actor_id: UUID | None
    about_id: UUID | None
    data: dict[str, Any] | None

    @property
    def position(self) -> Position:
        return Position(self.xid, self.id)


COLUMNS = ChangeRow._fields


def change_row(row: Row) -> ChangeRow:
    """From a row of COLUMNS; JSON arrives as text."""
    *columns, data = row
    return ChangeRow._make((*columns, None if data is None else orjson.loads(data)))
