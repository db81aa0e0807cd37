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

from config.changes.channels import Channel
from config.changes.exceptions import CursorExpired
from config.changes.rows import COLUMNS, START, ChangeRow, Cursor, Position, change_row
from config.database.sql import fetch_all

# The rows that one call reads to find those of the requested types; the response says that more follow.
SCAN_MAX = 2_000

NAMES = ", ".join(COLUMNS)
# A reader inside a transaction that writes gets the rows written so far, and later ones of the same transaction.
OWN_XID = "pg_current_xact_id_if_assigned()::text::bigint"
# A statement of its own: its result must precede the snapshot of the statement that reads the rows.
HORIZON = f"SELECT changes_horizon(), {OWN_XID}"
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
STATE = f"""
SELECT generation, changes_horizon(), {OWN_XID}, (SELECT last_value - (NOT is_called)::int FROM changes_change_id)
FROM changes_changelog
"""  # noqa: S608  only constants


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
    ((horizon, own_xid),) = fetch_all(HORIZON)
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
    rows = [change_row(row[6:]) for row in read_rows if row[6] is not None]
    if len(rows) > limit:
        return Batch(rows[:limit], Cursor(generation, rows[limit - 1].position), has_more=True)
    if channel.matches != "true" and scanned == max(limit + 1, SCAN_MAX):
        return Batch(rows, Cursor(generation, Position(*newest)), has_more=True)
    last = position if newest[0] is None else Position(*newest)
    return Batch(rows, Cursor(generation, max(position, last, Position(own_xid or horizon, 0))))


def is_followed(position: Position) -> bool:
    """Whether rows after a position exist, such as those that wait for an older transaction to end."""
    ((exists,),) = fetch_all(BEYOND, position)
    return bool(exists)


def now() -> Cursor:
    """The cursor after all rows that can be read now."""
    ((generation, horizon, own_xid, last_id),) = fetch_all(STATE)
    return Cursor(generation, Position(horizon, 0) if own_xid is None else Position(own_xid, last_id))
