"""Who takes part on a page: the authors of its newest posts and replies, in one statement."""

from __future__ import annotations

from typing import Any

from kernel.database.sql import fetch_all
from messaging.queries.joins import account_from_row
from messaging.queries.newest import newest_of_page
from messaging.queries.shown import Shown

# The newest posts and the newest replies that are read, however many the page has.
READ_MAX = 200
PARTICIPANTS_MAX = 100
PARTICIPANTS = """
SELECT account.id, account.name, account.handle, account.kind FROM (
    SELECT author_id, max(created_at) AS last_at FROM (({posts}) UNION ALL ({replies})) newest
    GROUP BY author_id ORDER BY last_at DESC, author_id LIMIT {count}
) author JOIN messaging_account account ON account.id = author.author_id
ORDER BY author.last_at DESC, author.author_id
"""


def participants_of(page_id: str, shown: Shown | None = None) -> list[dict[str, Any]]:
    """Their account records, those who wrote last first; with `shown`, who wrote what an embed shows."""
    rows = fetch_all(statement_of(shown), {"page": page_id, **(shown.values if shown else {})})
    return [account_from_row(row) for row in rows]


def statement_of(shown: Shown | None = None) -> str:
    posts, replies = (
        newest_of_page("m.author_id, m.created_at", of_replies=of_replies, limit=READ_MAX, shown=shown)
        for of_replies in (False, True)
    )
    return PARTICIPANTS.format(posts=posts, replies=replies, count=PARTICIPANTS_MAX)
