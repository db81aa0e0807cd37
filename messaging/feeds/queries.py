"""The newest public posts of a page or of a community, replies included, in one statement each.

The newest posts and the newest replies of a page are merged. The index of a community has an expression, which is the
id of the community, so that it changes no plan of a statement without it.

At most POSTS_MAX posts are read. PostgreSQL adds up the sizes of their texts and sends those that fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from kernel.database.sql import Row, fetch_all, fetch_one
from messaging.models import AccountKind
from messaging.posts.message_sizes import PAGE_BYTES
from messaging.posts.shown import Shown, is_public, newest_of_page

POSTS_MAX = 50
COLUMNS = "m.id, m.content, m.parent_id, m.created_at, m.updated_at, m.author_id, m.page_id"
# The limit is a literal, as in `message_lists`: the generic plan has to know it.
NEWEST = f"ORDER BY created_at DESC, id DESC LIMIT {POSTS_MAX}"
# The columns of a post in a row.
POST = """
    SELECT newest.id, newest.content, newest.parent_id IS NOT NULL AS is_reply, newest.created_at, newest.updated_at,
        author.name, page.normalized_url, author.kind,
        sum(octet_length(newest.content)) OVER (ORDER BY newest.created_at DESC, newest.id DESC) AS bytes
    FROM ({newest}) newest
    JOIN messaging_account author ON author.id = newest.author_id
    JOIN messaging_page page ON page.id = newest.page_id
"""
OF_COMMUNITY = POST.format(
    newest=f"""
        SELECT {COLUMNS} FROM messaging_message m
        WHERE coalesce(community_id, id) = %(community)s AND community_id IS NOT NULL AND {is_public("m")}
        {NEWEST}
    """  # noqa: S608  built from constants
)
FITTING = f"ON post.bytes <= {PAGE_BYTES}"
NEWEST_FIRST = "ORDER BY post.created_at DESC, post.id DESC"
# One row for each post; without posts, one row with NULL in the columns of a post.
PAGE_FEED = f"""
    SELECT head.normalized_url, post.* FROM (VALUES (0)) here
    LEFT JOIN messaging_page head ON head.id = %(page)s
    LEFT JOIN ({{of_page}}) post {FITTING} {NEWEST_FIRST}
"""  # noqa: S608  built from constants
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
    author_kind: str = AccountKind.HUMAN


def page_feed(page_id: str, shown: Shown | None = None) -> tuple[str | None, list[FeedPost]]:
    """(the normalised URL of a page, its newest posts); the URL is None if the id was never issued.

    With `shown`, the posts that an embed shows. The merged posts are limited before the joins: a plan that joins first
    reads all that it merges.
    """
    posts, replies = (
        newest_of_page(COLUMNS, of_replies=of_replies, limit=POSTS_MAX, shown=shown) for of_replies in (False, True)
    )
    of_page = POST.format(newest=f"({posts}) UNION ALL ({replies}) {NEWEST}")
    rows = fetch_all(PAGE_FEED.format(of_page=of_page), {"page": page_id, **(shown.values if shown else {})})
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
