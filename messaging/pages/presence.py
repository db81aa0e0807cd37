"""The posts and the people on pages: how many there are, when the last one was written, and who takes part."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

from kernel.database.sql import fetch_all
from messaging.posts.message_fields import account_from_row
from messaging.posts.shown import Shown, newest_of_page

# The newest posts and replies of a page that are looked at for those to subtract.
SUBTRACTED_MAX = 200
COUNTS = """
SELECT asked.page_id, counted.posts - {hidden_posts}, counted.replies - {hidden_replies},
    greatest(post.created_at, reply.created_at)
FROM unnest(%(pages)s::text[]) asked (page_id)
JOIN LATERAL (
    SELECT sum(posts)::int AS posts, sum(replies)::int AS replies
    FROM {counts} WHERE page_id = asked.page_id
) counted ON counted.posts IS NOT NULL
LEFT JOIN LATERAL ({last_post}) post ON true
LEFT JOIN LATERAL ({last_reply}) reply ON true
"""
OF_COMMUNITY = (
    "(SELECT * FROM messaging_pagecommunitycount WHERE community_id = %(shown)s AND page_id = asked.page_id) own"
)
HIDDEN = "(SELECT count(*)::int FROM ({newest}) m WHERE NOT ({shown}))"


class PagePresence(NamedTuple):
    """The public posts and replies of a page, and when the last of either was written."""

    posts: int
    replies: int
    last_post_at: datetime | None


NOTHING = PagePresence(0, 0, None)


def presence_of(page_ids: Collection[str], shown: Shown | None = None) -> dict[str, PagePresence]:
    """Count by page id; pages without posts may be missing. With `shown`, what an embed shows is counted."""
    if not page_ids:
        return {}
    values = {"pages": list(page_ids), **(shown.values if shown else {})}
    return {page_id: PagePresence(*counts) for page_id, *counts in fetch_all(_statement(shown), values)}


def _statement(shown: Shown | None) -> str:
    return COUNTS.format(
        counts="messaging_pagecount" if shown is None or shown.everyone else OF_COMMUNITY,
        last_post=_newest("m.created_at", of_replies=False, limit=1, shown=shown),
        last_reply=_newest("m.created_at", of_replies=True, limit=1, shown=shown),
        hidden_posts=_hidden(shown, of_replies=False),
        hidden_replies=_hidden(shown, of_replies=True),
    )


def _newest(columns: str, *, of_replies: bool, limit: int, shown: Shown | None) -> str:
    return newest_of_page(columns, of_replies=of_replies, limit=limit, shown=shown, page="asked.page_id")


def _hidden(shown: Shown | None, *, of_replies: bool) -> str:
    if shown is None or not shown.is_filtered:
        return "0"
    newest = _newest("m.*", of_replies=of_replies, limit=SUBTRACTED_MAX, shown=None)
    return HIDDEN.format(newest=newest, shown=shown.any("m") if of_replies else shown.posts("m"))


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
