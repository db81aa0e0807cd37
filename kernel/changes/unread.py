"""How far an account has read its inbox, and how many events follow."""

from __future__ import annotations

from uuid import UUID

from kernel.changes import reading
from kernel.changes.exceptions import CursorExpired
from kernel.changes.rows import START, Cursor, Position
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
