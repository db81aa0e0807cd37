"""Reads the change log from a cursor, so that a reader gets each row once and never misses one.

A row's position is (xid, id): the id of its transaction, then a sequence. Transaction ids are assigned at the first
write of a transaction, and a transaction may commit after one with a higher id. So readers stop at the *horizon*, the
lowest id of a transaction that is still running: all rows before it are committed, and no row can be added there.

    transactions   100 committed   101 running   102 committed
    horizon                        ^ readers get the rows of 100; those of 102 follow when 101 has ended

`changes_horizon()` considers the transactions of this database only: PostgreSQL's own horizon
(`pg_snapshot_xmin`) also waits for those of other databases of the cluster.

A cursor is always the position of a committed row, also where there is nothing to read: that of the newest row of the
whole log before the horizon. After a crash PostgreSQL assigns those transaction ids again that no flushed commit
follows, such as those of aborted transactions and of notifications. A cursor at the horizon would be beyond the rows of
such an id.

Cursors of the change log: opaque, signed, and bound to their list and its filters, as those of other lists.

The horizon: where the readers of the change log stop (see `kernel.changes.reading`).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from kernel.api.exceptions import ApiError
from kernel.api.pagination import sign, verify
from kernel.changes.channels import Selection
from kernel.changes.restored import IS_ELSEWHERE, adopt_log
from kernel.changes.rows import COLUMNS, START, ChangeRow, Cursor, Position, change_row
from kernel.database.sql import fetch_all, fetch_one

# Generation, xid, id.
FORMAT = struct.Struct(">hqq")


def encode(cursor: Cursor, *, bound_to: str) -> str:
    """40 characters of base64url."""
    return sign(FORMAT.pack(cursor.generation, *cursor.position), bound_to=bound_to)


def decode(text: str, *, bound_to: str) -> Cursor:
    """Raises InvalidCursor (400) for any text that is not a cursor of this list."""
    generation, xid, row_id = FORMAT.unpack(verify(text, FORMAT.size, bound_to=bound_to))
    return Cursor(generation, Position(xid, row_id))


class CursorExpired(ApiError):
    status_code = 410
    default_code = "cursor_expired"
    message = "Read the current state again, then go on from a new cursor: GET the same list with tail=true."
    cause = "Changes after the cursor have been deleted (they are stored for 30 days), or lost with the database."
    remedy = "Read the lists of posts again. A request with `tail=true` returns the cursor of now."


# A statement of its own: its result must precede the snapshot of the statement that reads the rows.
HORIZON = f"SELECT changes_horizon(), {IS_ELSEWHERE} FROM changes_changelog"  # noqa: S608  a constant


def horizon() -> int:
    """The transaction id before which all rows can be read, by a later statement.

    A process that runs on after PostgreSQL was replaced finds that out here, and adopts the log.
    """
    ((result, is_elsewhere),) = fetch_all(HORIZON)
    if is_elsewhere:
        adopt_log()
    return int(result)


# The rows that one call reads to find those of the requested types; the response says that more follow.
SCAN_MAX = 2_000

NAMES = ", ".join(COLUMNS)
# The state of the log, with the position of the newest row before the horizon: where readers without rows go on.
LOG = """(
    SELECT generation, pruned_xid, pruned_id,
        coalesce(newest.xid, pruned_xid) AS xid, coalesce(newest.id, pruned_id) AS id
    FROM changes_changelog LEFT JOIN (
        SELECT xid, id FROM changes_change WHERE xid < %(horizon)s ORDER BY xid DESC, id DESC LIMIT 1
    ) newest ON true
) log"""
# Rows after the cursor are deleted, or the cursor is that of a row that is lost. A standby may not have the row yet.
IS_EXPIRED = """(
    reader.generation <> log.generation OR (reader.xid, reader.id) < (log.pruned_xid, log.pruned_id)
    OR (reader.xid, reader.id) > (log.xid, log.id) AND NOT pg_is_in_recovery()
)"""
READ = """
WITH scanned AS MATERIALIZED (
    SELECT {columns} FROM changes_change
    WHERE (xid, id) > (%(xid)s, %(id)s) AND xid < %(horizon)s AND {condition}
    ORDER BY xid, id LIMIT {scan:d}
), matching AS (
    SELECT * FROM scanned WHERE {matches} ORDER BY xid, id LIMIT {count:d}
), last AS (
    SELECT xid, id FROM scanned ORDER BY xid DESC, id DESC LIMIT 1
)
SELECT {is_expired}, log.generation, log.xid, log.id, (SELECT count(*) FROM scanned), last.xid, last.id, matching.*
FROM {log}
CROSS JOIN (VALUES (%(generation)s::smallint, %(xid)s::bigint, %(id)s::bigint)) AS reader(generation, xid, id)
LEFT JOIN last ON true LEFT JOIN matching ON true
ORDER BY matching.xid, matching.id
"""
FIRST_COLUMN = 7
# Not EXISTS, for which PostgreSQL expects a row soon, and scans the whole table where none follows.
IS_FOLLOWED = "SELECT (xid, id) > (%(xid)s, %(id)s) FROM changes_change ORDER BY xid DESC, id DESC LIMIT 1"
NOW = f"SELECT log.generation, log.xid, log.id FROM {LOG}"  # noqa: S608  a constant


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


def read(selection: Selection, after: Cursor | None, *, limit: int, since: Position = START) -> Batch:
    """At most `limit` of the selected rows after a cursor; None starts at the oldest row after `since`.

    `since` is a position of this log which its reader has passed, so that a cursor before it is moved there.
    `has_more` may be true with fewer rows than `limit`: a call reads at most SCAN_MAX rows. Raises CursorExpired (410).
    """
    scan = limit + 1 if selection.matches == "true" else max(limit + 1, SCAN_MAX)
    start = since if after is None else max(since, after.position)
    values = {"generation": after and after.generation, "xid": start.xid, "id": start.id, "horizon": horizon()}
    found = fetch_all(_statement(selection, scan=scan, count=limit + 1), {**values, **selection.values})
    is_expired, generation, newest_xid, newest_id, scanned, *last = found[0][:FIRST_COLUMN]
    if after is not None and is_expired:
        raise CursorExpired
    rows = [change_row(row[FIRST_COLUMN:]) for row in found if row[FIRST_COLUMN] is not None]
    if len(rows) > limit:
        return Batch(rows[:limit], Cursor(generation, rows[limit - 1].position), has_more=True)
    if scanned == scan:
        return Batch(rows, Cursor(generation, Position(*last)), has_more=True)
    return Batch(rows, Cursor(generation, max(start, Position(newest_xid, newest_id))))


def is_followed(position: Position) -> bool:
    """Whether rows after a position exist, such as those that wait for an older transaction to end."""
    newest = fetch_one(IS_FOLLOWED, position._asdict())
    return newest is not None and bool(newest[0])


def now() -> Cursor:
    """The cursor after all rows that can be read now."""
    ((generation, *newest),) = fetch_all(NOW, {"horizon": horizon()})
    return Cursor(generation, Position(*newest))


def _statement(selection: Selection, *, scan: int, count: int) -> str:
    return READ.format(
        columns=NAMES,
        condition=selection.condition,
        matches=selection.matches,
        scan=scan,
        count=count,
        is_expired=IS_EXPIRED,
        log=LOG,
    )
