"""The newest public posts of a page or of a community, replies included, in one statement each.

No index has all posts of a page: PostgreSQL would use it for the lists of a page with many replies. The newest posts
and the newest replies are read from one index each and merged. The index of a community has an expression, which is
the id of the community and which no other statement has, so that it changes no other plan.

At most POSTS_MAX posts are read. PostgreSQL adds up the sizes of their texts and sends those that fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from config.database.sql import Row, fetch_all, fetch_one
from messaging.queries.page_sizes import PAGE_BYTES
from messaging.queries.visibility import is_public

POSTS_MAX = 50
COLUMNS = "id, content, parent_id, created_at, updated_at, author_id, page_id"
# The limit is a literal, as in `message_lists`: the generic plan has to know it.
NEWEST = f"ORDER BY created_at DESC, id DESC LIMIT {POSTS_MAX}"
# The columns of a post in a row.
POST = """
    SELECT newest.id, newest.content, newest.parent_id IS NOT NULL AS is_reply, newest.created_at, newest.updated_at,
        author.name, page.normalized_url,
        sum(octet_length(newest.content)) OVER (ORDER BY newest.created_at DESC, newest.id DESC) AS bytes
    FROM ({newest}) newest
    JOIN messaging_account author ON author.id = newest.author_id
    JOIN messaging_page page ON page.id = newest.page_id
"""
# The merged posts are limited before the joins: a plan that joins first reads all that it merges.
PUBLIC_ON_PAGE = f"""
    SELECT {COLUMNS} FROM messaging_message m WHERE page_id = %(page)s AND {is_public("m")}
"""  # noqa: S608  built from constants
OF_PAGE = POST.format(
    newest=f"""
        ({PUBLIC_ON_PAGE} AND parent_id IS NULL {NEWEST})
        UNION ALL
        ({PUBLIC_ON_PAGE} AND parent_id IS NOT NULL {NEWEST})
        {NEWEST}
    """
)
OF_COMMUNITY = POST.format(
    newest=f"""
        SELECT {COLUMNS} FROM messaging_message m
        WHERE coalesce(community_id, id) = %(community)s AND community_id IS NOT NULL AND {is_public("m")}
        {NEWEST}
    """  # noqa: S608  as above
)
FITTING = f"ON post.bytes <= {PAGE_BYTES}"
NEWEST_FIRST = "ORDER BY post.created_at DESC, post.id DESC"
# One row for each post; without posts, one row with NULL in the columns of a post.
PAGE_FEED = f"""
    SELECT head.normalized_url, post.* FROM (VALUES (0)) here
    LEFT JOIN messaging_page head ON head.id = %(page)s
    LEFT JOIN ({OF_PAGE}) post {FITTING} {NEWEST_FIRST}
"""  # noqa: S608  as above
COMMUNITY_FEED = f"""
    SELECT head.name, post.* FROM messaging_community head
    LEFT JOIN ({OF_COMMUNITY}) post {FITTING}
    WHERE head.id = %(community)s AND head.slug = %(slug)s {NEWEST_FIRST}
"""  # noqa: S608  as above
FIND_COMMUNITY = "SELECT id FROM messaging_community WHERE slug = %s"


class FeedPost(NamedTuple):
    """A post in a feed; `page_url` is the normalised URL of its page."""

    id: UUID
    content: str
    is_reply: bool
    created_at: datetime
    updated_at: datetime
    author: str
    page_url: str


def page_feed(page_id: str) -> tuple[str | None, list[FeedPost]]:
    """(the normalised URL of a page, its newest posts); the URL is None if the id was never issued."""
    rows = fetch_all(PAGE_FEED, {"page": page_id})
    return rows[0][0], _posts(rows)


def community_feed(community_id: UUID, *, slug: str) -> tuple[str, list[FeedPost]] | None:
    """(the name of a community, its newest posts); None if there is no community with this id and slug."""
    rows = fetch_all(COMMUNITY_FEED, {"community": community_id, "slug": slug})
    return (rows[0][0], _posts(rows)) if rows else None


def community_with(slug: str) -> UUID | None:
    """The id of the community with this slug."""
    row = fetch_one(FIND_COMMUNITY, [slug])
    return row[0] if row else None


def _posts(rows: Sequence[Row]) -> list[FeedPost]:
    return [FeedPost(*post) for _head, *post, _bytes in rows if post[0] is not None]
