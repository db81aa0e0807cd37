"""How far an account has read its inbox, and how many events follow.

The latest events of an inbox, newest first, for pages; readers that follow the log use `kernel.changes.reading`.

Finds, for many readers at once, those that have rows of the change log to read.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from kernel.changes import reading
from kernel.changes.channels import Channel
from kernel.changes.reading import IS_EXPIRED, LOG, NAMES, Batch, CursorExpired, horizon
from kernel.changes.rows import START, Cursor, Position, change_row
from kernel.database.sql import execute, fetch_all, fetch_one

UNREAD_MAX = 1_000
# Never back: of two requests at the same time, the later position counts.
MARK = """
INSERT INTO changes_readposition AS read (account_id, xid, row_id) VALUES (%(account)s, %(xid)s, %(id)s)
ON CONFLICT (account_id) DO UPDATE SET xid = excluded.xid, row_id = excluded.row_id
WHERE (read.xid, read.row_id) < (excluded.xid, excluded.row_id)
"""
# An aggregate is one row, also without a position.
COUNT = f"""
SELECT (
    SELECT count(*) FROM (
        SELECT FROM changes_change change
        WHERE account_id = %(account)s AND (change.xid, change.id) > (start.xid, start.id)
        LIMIT {UNREAD_MAX}
    ) unread
) FROM (
    SELECT coalesce(max(xid), {START.xid}) AS xid, coalesce(max(row_id), {START.id}) AS id
    FROM changes_readposition WHERE account_id = %(account)s
) start
"""  # noqa: S608  only constants


def count_unread(account_id: UUID) -> int:
    """The number of events after the account's position, at most UNREAD_MAX."""
    ((count,),) = fetch_all(COUNT, {"account": account_id})
    return int(count)


def read_position(account_id: UUID) -> Position:
    """Up to where the account has read."""
    row = fetch_one("SELECT xid, row_id FROM changes_readposition WHERE account_id = %s", [account_id])
    return START if row is None else Position(*row)


def mark_read(account_id: UUID, cursor: Cursor) -> None:
    """Set the position, unless it is later already.

    Raises CursorExpired (410) for a cursor of an earlier log, or of a row that is lost.
    """
    now = reading.now()
    if cursor.generation != now.generation or cursor.position > now.position:
        raise CursorExpired
    execute(MARK, {"account": account_id, "xid": cursor.position.xid, "id": cursor.position.id})


LATEST = f"""
SELECT {NAMES} FROM changes_change
WHERE account_id = %(account)s AND (xid, id) <= (%(xid)s, %(id)s)
ORDER BY xid DESC, id DESC LIMIT %(limit)s
"""  # noqa: S608  only constants


def read_latest(account_id: UUID, before: Cursor | None = None, *, limit: int) -> Batch:
    """The newest events up to `before`, or up to now; `next` is where the older ones begin, with `has_more`.

    A cursor of an earlier log is ignored: the page begins with the newest event.
    """
    now = reading.now()
    start = now if before is None or before.generation != now.generation else min(before, now)
    values = {"account": account_id, "xid": start.position.xid, "id": start.position.id, "limit": limit + 1}
    rows = [change_row(row) for row in fetch_all(LATEST, values)]
    return cut_latest(Batch(rows, now), limit)


def cut_latest(batch: Batch, count: int) -> Batch:
    """The batch cut to its newest rows."""
    if count >= len(batch.rows):
        return batch
    return Batch(batch.rows[:count], batch.cursor_after(batch.rows[count]), has_more=True)


Key = TypeVar("Key", bound=Hashable)
# A reader whose cursor has expired is found too: reading raises CursorExpired for it.
FIND = f"""
SELECT log.generation, log.xid, log.id, reader.number
FROM {LOG} LEFT JOIN unnest(
    %(numbers)s::int[], %(accounts)s::uuid[], %(communities)s::uuid[], %(generations)s::smallint[], %(xids)s::bigint[],
    %(ids)s::bigint[]
) AS reader(number, account_id, community_id, generation, xid, id) ON
    {IS_EXPIRED}
    OR EXISTS (
        SELECT FROM changes_change change
        WHERE change.account_id = reader.account_id
            AND (change.xid, change.id) > (reader.xid, reader.id) AND change.xid < %(horizon)s
    )
    OR EXISTS (
        SELECT FROM changes_change change
        WHERE change.community_id = reader.community_id AND change.account_id IS NULL
            AND (change.xid, change.id) > (reader.xid, reader.id) AND change.xid < %(horizon)s
    )
"""  # noqa: S608  only constants


@dataclass(frozen=True, slots=True)
class Pending(Generic[Key]):
    """The readers that have something to read. `now` is the cursor at which the others may go on."""

    keys: frozenset[Key]
    now: Cursor


def find_pending(readers: Mapping[Key, tuple[Channel, Cursor]]) -> Pending[Key]:
    """`readers`: their channels, each an account or a community, and cursors. Types are not considered."""
    keys, channels, cursors = list(readers), [], []
    for channel, cursor in readers.values():
        channels.append(channel)
        cursors.append(cursor)
    values = {
        "numbers": list(range(len(keys))),
        "accounts": [channel.account_id for channel in channels],
        "communities": [channel.community_id for channel in channels],
        "generations": [cursor.generation for cursor in cursors],
        "xids": [cursor.position.xid for cursor in cursors],
        "ids": [cursor.position.id for cursor in cursors],
        "horizon": horizon(),
    }
    rows = fetch_all(FIND, values)
    found = frozenset(keys[number] for *_now, number in rows if number is not None)
    generation, *newest, _number = rows[0]
    return Pending(found, Cursor(generation, Position(*newest)))
