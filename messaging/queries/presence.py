"""The number of posts on many pages, and when the last one was written, in one statement."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from config.database.sql import fetch_all
from messaging.queries.visibility import is_public

LAST = f"""
    SELECT m.created_at FROM messaging_message m
    WHERE m.page_id = asked.page_id AND {{condition}} AND {is_public("m")}
    ORDER BY m.created_at DESC, m.id DESC LIMIT 1
"""  # noqa: S608  built from constants
# One row of counts and two of an index for each page, however many posts it has.
COUNTS = f"""
SELECT asked.page_id, counted.posts, counted.replies, greatest(post.created_at, reply.created_at)
FROM unnest(%s::text[]) asked (page_id)
JOIN LATERAL (
    SELECT sum(posts)::int AS posts, sum(replies)::int AS replies
    FROM messaging_pagecount WHERE page_id = asked.page_id
) counted ON counted.posts IS NOT NULL
LEFT JOIN LATERAL ({LAST.format(condition="m.parent_id IS NULL")}) post ON true
LEFT JOIN LATERAL ({LAST.format(condition="m.parent_id IS NOT NULL")}) reply ON true
"""  # noqa: S608  as above


class PagePresence(NamedTuple):
    """The public posts and replies of a page, and when the last of either was written."""

    posts: int
    replies: int
    last_post_at: datetime | None


NOTHING = PagePresence(0, 0, None)


def presence_of(page_ids: Collection[str]) -> dict[str, PagePresence]:
    """By page id; pages without posts may be missing."""
    if not page_ids:
        return {}
    return {page_id: PagePresence(*counts) for page_id, *counts in fetch_all(COUNTS, [list(page_ids)])}
