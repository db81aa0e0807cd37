"""How far an account has read its inbox, and how many events follow."""

from __future__ import annotations

from uuid import UUID

from config.changes.exceptions import CursorExpired
from config.changes.rows import START, Cursor
from config.database.sql import execute, fetch_all

UNREAD_MAX = 1_000
GENERATION = "SELECT generation FROM changes_changelog"
# Never back: of two requests at the same time, the later position counts.
MARK = """
INSERT INTO changes_readposition AS read (account_id, generation, xid, row_id)
VALUES (%(account)s, %(generation)s, %(xid)s, %(id)s)
ON CONFLICT (account_id) DO UPDATE SET generation = excluded.generation, xid = excluded.xid, row_id = excluded.row_id
WHERE (read.generation, read.xid, read.row_id) < (excluded.generation, excluded.xid, excluded.row_id)
"""
# The rows of a log that was restored have negative transaction ids (`config.changes.restored`): a position of the time
# before counts as after all of them.
COUNT = f"""
SELECT (
    SELECT count(*) FROM (
        SELECT FROM changes_change
        WHERE account_id = %(account)s AND (changes_change.xid, changes_change.id) > (place.xid, place.id)
        LIMIT {UNREAD_MAX}
    ) unread
) FROM (
    SELECT
        CASE WHEN read IS NULL THEN {START.xid} WHEN read.generation = log.generation THEN read.xid ELSE 0 END AS xid,
        CASE WHEN read.generation = log.generation THEN read.row_id ELSE 0 END AS id
    FROM changes_changelog log LEFT JOIN changes_readposition read ON read.account_id = %(account)s
) place
"""  # noqa: S608  only constants


def count_unread(account_id: UUID) -> int:
    """The number of events after the account's position, at most UNREAD_MAX."""
    ((count,),) = fetch_all(COUNT, {"account": account_id})
    return int(count)


def mark_read(account_id: UUID, cursor: Cursor) -> None:
    """Set the position, unless it is later already. Raises CursorExpired (410) for a cursor of an earlier log."""
    ((generation,),) = fetch_all(GENERATION)
    if cursor.generation != generation:
        raise CursorExpired
    values = {"generation": generation, "xid": cursor.position.xid, "id": cursor.position.id}
    execute(MARK, {"account": account_id, **values})
