"""Who takes part on a page: the authors of its newest posts and replies, in one statement."""

from __future__ import annotations

from typing import Any

from config.database.sql import fetch_all
from messaging.queries.joins import account_from_row
from messaging.queries.visibility import is_public

# The newest posts and the newest replies that are read, however many the page has.
READ_MAX = 200
PARTICIPANTS_MAX = 100

NEWEST = f"""
    SELECT m.author_id, m.created_at FROM messaging_message m
    WHERE m.page_id = %(page_id)s AND {{condition}} AND {is_public("m")}
    ORDER BY m.created_at DESC, m.id DESC LIMIT {READ_MAX}
"""  # noqa: S608  built from constants
PARTICIPANTS = f"""
SELECT account.id, account.name, account.handle, account.kind FROM (
    SELECT author_id, max(created_at) AS last_at FROM (
        ({NEWEST.format(condition="m.parent_id IS NULL")}) UNION ALL
        ({NEWEST.format(condition="m.parent_id IS NOT NULL")})
    ) newest GROUP BY author_id ORDER BY last_at DESC, author_id LIMIT {PARTICIPANTS_MAX}
) author JOIN messaging_account account ON account.id = author.author_id
ORDER BY author.last_at DESC, author.author_id
"""  # noqa: S608  as above


def participants_of(page_id: str) -> list[dict[str, Any]]:
    """Their account records, those who wrote last first."""
    rows = fetch_all(PARTICIPANTS, {"page_id": page_id})
    return [account_from_row(row) for row in rows]
