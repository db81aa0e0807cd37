"""Reads the change log from a cursor, so that a reader gets each row once and never misses one.

A row's position is (xid, id): the id of its transaction, then a sequence. Transaction ids are assigned at the first
write of a transaction, and a transaction may commit after one with a higher id. So readers stop at the *horizon*, the
lowest id of a transaction that is still running: all rows before it are committed, and no row can be added there.

    transactions   100 committed   101 running   102 committed
    horizon                        ^ readers get the rows of 100; those of 102 follow when 101 has ended

`changes_horizon()` considers the transactions of this database only: PostgreSQL's own horizon
(`pg_snapshot_xmin`) also waits for those of other databases of the cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from config.api.exceptions import CursorExpired
from config.database.sql import Row, fetch_all

# The rows that one call reads to find those of the requested types; the response says that more follow.
SCAN_MAX = 2_000

COLUMNS = (
    *("xid", "id", "type", "at", "page_id", "community_id", "message_id", "account_id", "actor_id", "about_id"),
    "data",
)
NAMES = ", ".join(COLUMNS)
# A statement of its own: its result must precede the snapshot of the statement that reads the rows.
HORIZON = "SELECT changes_horizon()"
READ = """
WITH scanned AS MATERIALIZED (
    SELECT {columns} FROM changes_change
    WHERE (xid, id) > (%(xid)s, %(id)s) AND xid < %(horizon)s AND {channel}
    ORDER BY xid, id LIMIT {scan:d}
), matching AS (
    SELECT * FROM scanned WHERE {matches} ORDER BY xid, id LIMIT {count:d}
), newest AS (
    SELECT xid, id FROM scanned ORDER BY xid DESC, id DESC LIMIT 1
)
SELECT log.generation, log.pruned_xid, log.pruned_id, (SELECT count(*) FROM scanned), newest.xid, newest.id, matching.*
FROM changes_changelog log LEFT JOIN newest ON true LEFT JOIN matching ON true
ORDER BY matching.xid, matching.id
"""
BEYOND = "SELECT EXISTS (SELECT FROM changes_change WHERE (xid, id) > (%s, %s))"
STATE = "SELECT generation, changes_horizon() FROM changes_changelog"


class Position(NamedTuple):
    """A place in the log; a reader there has got all rows up to and including it."""

    xid: int
    id: int


# Before all rows; those of a restored log have negative transaction ids.
START = Position(-(2**62), 0)


class Cursor(NamedTuple):
    """A position in one generation of the log."""

    generation: int
    position: Position


class ChangeRow(NamedTuple):
    """A row of the log (see `config.changes.models.Change`)."""

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


@dataclass(frozen=True, slots=True)
class Channel:
    """The rows that a reader asks for: those of an account's inbox, of a page or community, or all public ones."""

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
        """The SQL condition that an index serves."""
        if self.account_id is not None:
            return "account_id = %(account)s"
        if self.page_id is not None:
            return "account_id IS NULL AND page_id = %(page)s"
        if self.community_id is not None:
            return "account_id IS NULL AND community_id = %(community)s"
        return "true"

    @property
    def matches(self) -> str:
        """The SQL condition on the rows that were read."""
        conditions = [] if self.condition != "true" else ["account_id IS NULL"]
        return " AND ".join([*conditions, *(["type = ANY(%(types)s)"] if self.types else [])]) or "true"

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


class WholeLog(Channel):
    """Every row: the public changes and the events of all inboxes."""

    __slots__ = ()

    @property
    def condition(self) -> str:
        return "true"

    @property
    def matches(self) -> str:
        return "true"


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows after a cursor, in order. `next` is where to go on; `has_more`: rows that exist already follow."""

    rows: Sequence[ChangeRow]
    next: Cursor
    has_more: bool = False

    def cursor_after(self, row: ChangeRow) -> Cursor:
        return Cursor(self.next.generation, row.position)

    def first(self, count: int) -> Batch:
        """The batch cut to its first rows."""
        if count == len(self.rows):
            return self
        return Batch(self.rows[:count], self.cursor_after(self.rows[count - 1]), has_more=True)


def read(channel: Channel, after: Cursor | None, *, limit: int) -> Batch:
    """At most `limit` rows of a channel after a cursor; None starts at the oldest row.

    `has_more` may be true with fewer rows than `limit`: a call reads at most SCAN_MAX rows. Raises CursorExpired (410).
    """
    ((horizon,),) = fetch_all(HORIZON)
    position = START if after is None else after.position
    statement = READ.format(
        columns=NAMES,
        channel=channel.condition,
        matches=channel.matches,
        scan=limit + 1 if channel.matches == "true" else max(limit + 1, SCAN_MAX),
        count=limit + 1,
    )
    values = {"xid": position.xid, "id": position.id, "horizon": horizon, **channel.values}
    read_rows = fetch_all(statement, values)
    generation, pruned_xid, pruned_id, scanned, *newest = read_rows[0][:6]
    if after is not None and (after.generation != generation or position < (pruned_xid, pruned_id)):
        raise CursorExpired
    rows = [_row(row[6:]) for row in read_rows if row[6] is not None]
    if len(rows) > limit:
        return Batch(rows[:limit], Cursor(generation, rows[limit - 1].position), has_more=True)
    if channel.matches != "true" and scanned == max(limit + 1, SCAN_MAX):
        return Batch(rows, Cursor(generation, Position(*newest)), has_more=True)
    return Batch(rows, Cursor(generation, max(position, Position(horizon, 0))))


def _row(values: Row) -> ChangeRow:
    """Django's connections return JSON as text."""
    return ChangeRow._make([*values[:-1], values[-1] and orjson.loads(values[-1])])


def is_followed(position: Position) -> bool:
    """Whether rows after a position exist, such as those that wait for an older transaction to end."""
    ((exists,),) = fetch_all(BEYOND, position)
    return bool(exists)


def now() -> Cursor:
    """The cursor after all rows that can be read now."""
    ((generation, horizon),) = fetch_all(STATE)
    return Cursor(generation, Position(horizon, 0))
