"""The latest events of an inbox, newest first, for pages; readers that follow the log use `kernel.changes.reading`."""

from __future__ import annotations

from uuid import UUID

from kernel.changes import reading
from kernel.changes.reading import NAMES, Batch
from kernel.changes.rows import Cursor, change_row
from kernel.database.sql import fetch_all

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
