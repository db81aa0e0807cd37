"""The joins of a message: its author, its page, the message that it quotes, and the author of that message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from messaging.deleted_accounts import HEIRS, deleted_account
from messaging.queries.visibility import is_public

AUTHOR_COLUMNS = ("a.id AS author_id", "a.name", "a.handle", "a.kind")
# One look-up in an index for a post with a community. Not EXISTS, for which PostgreSQL may read the whole table first.
AUTHOR_ROLE_COLUMN = """CASE WHEN m.community_id IS NOT NULL THEN (
    SELECT 'moderator' FROM messaging_moderator r WHERE r.community_id = m.community_id AND r.account_id = m.author_id
) END AS author_role"""
PAGE_URL_COLUMN = "page.normalized_url AS page_url"
QUOTE_COLUMNS = (
    *("q.id AS quoted_id", "q.content AS quoted", "q.created_at AS quoted_at"),
    *("qa.id AS quoted_author_id", "qa.name", "qa.handle", "qa.kind"),
)
JOINS = f"""
    FROM messaging_message m
    JOIN messaging_account a ON a.id = m.author_id
    JOIN messaging_page page ON page.id = m.page_id
    LEFT JOIN messaging_message q ON q.id = m.quote_id AND {is_public("q")}
    LEFT JOIN messaging_account qa ON qa.id = q.author_id
"""


def account_from_row(row: Sequence[Any]) -> dict[str, Any]:
    """`{id, name, handle, kind}` from AUTHOR_COLUMNS."""
    if row[2] in HEIRS:
        return deleted_account(row[3])
    return {"id": row[0], "name": row[1], "handle": row[2], "kind": row[3]}


def quote_from_row(row: Sequence[Any]) -> dict[str, Any]:
    """`{id, content, author, createdAt}` from QUOTE_COLUMNS."""
    return {"id": row[0], "content": row[1], "author": account_from_row(row[3:]), "createdAt": row[2]}
