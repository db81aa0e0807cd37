"""Moves the posts of a page to the page with the id that the current rules give its URL (`renormalize_pages --apply`).

The same transaction deletes the old page and redirects its id to the new page. A concurrent write to the old page
violates its foreign key at commit and is retried on the new page (`kernel.database.sql.RETRYABLE_SQLSTATES`).

Writes lock posts first, in id order, and their page last, at commit. So the posts are moved before the page is locked;
posts that were written in between are moved after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from time import sleep
from typing import Any, NamedTuple
from uuid import UUID

from django.db import DatabaseError, transaction

from kernel.cache.versions import EVERYTHING, invalidate
from kernel.database.sql import RETRYABLE_SQLSTATES, execute, fetch_all, fetch_one, sqlstate
from messaging.cache_tags import community_tag, message_tag, page_tag
from messaging.models import Page
from messaging.models.moderation import PINS_MAX
from messaging.pages.services import normalize_url
from messaging.posts.shown import is_public

LOCK_NOT_AVAILABLE = "55P03"
# Beyond this many posts, all responses are invalidated instead of those of each post.
TAGS_MAX = 1_000
TRIES = 20
PAUSE_SECONDS = 0.1

LOCK_POSTS = "SELECT FROM messaging_message WHERE page_id = %s ORDER BY id FOR NO KEY UPDATE"
MOVE_POSTS = f"""
UPDATE messaging_message m SET page_id = %s WHERE page_id = %s
RETURNING id, community_id,
    {is_public("m")} AND parent_id IS NULL, {is_public("m")} AND parent_id IS NOT NULL
"""  # noqa: S608  built from constants
# The triggers on posts do nothing in a move (see migrations 0010 and 0013). The counts have a slot of their own: no
# other write waits for these rows.
MOVE_COUNTS = """
INSERT INTO messaging_pagecount AS counted (page_id, slot, posts, replies)
SELECT page_id, -1, sign * %(posts)s, sign * %(replies)s FROM (VALUES (%(old)s, -1), (%(new)s, 1)) moved (page_id, sign)
ON CONFLICT (page_id, slot) DO UPDATE
    SET posts = counted.posts + excluded.posts, replies = counted.replies + excluded.replies
"""
MOVE_COUNTS_OF_COMMUNITIES = """
INSERT INTO messaging_pagecommunitycount AS counted (page_id, community_id, slot, posts, replies)
SELECT page_id, community_id, -1, sign * posts, sign * replies
FROM (VALUES (%(old)s, -1), (%(new)s, 1)) moved (page_id, sign),
    unnest(%(communities)s::uuid[], %(posts)s::int[], %(replies)s::int[]) own (community_id, posts, replies)
ON CONFLICT (page_id, community_id, slot) DO UPDATE
    SET posts = counted.posts + excluded.posts, replies = counted.replies + excluded.replies
"""
MOVE_SEARCH_ENTRIES = "UPDATE messaging_searchentry SET page_id = %s WHERE page_id = %s"
# The public changes and the events of inboxes; reads the whole log, as no index has the pages of events.
MOVE_CHANGES = "UPDATE changes_change SET page_id = %s WHERE page_id = %s"
# A write may have locked a post and wait for the page. This transaction then times out and is retried.
WAIT_BRIEFLY = "SELECT set_config('lock_timeout', '500ms', true)"
LOCK_PAGE = "SELECT id FROM messaging_page WHERE id = %s FOR UPDATE"
# What is closed or pinned on both pages stays once. A page has at most PINS_MAX pins of a community: the last ones.
MOVE_CLOSINGS = """
WITH moved AS (DELETE FROM messaging_closedpage WHERE page_id = %(old)s RETURNING community_id, created_at)
INSERT INTO messaging_closedpage (page_id, community_id, created_at)
SELECT %(new)s, community_id, created_at FROM moved ON CONFLICT (page_id, community_id) DO NOTHING
"""
MOVE_CLOSING_DECISIONS = "UPDATE messaging_decision SET page_id = %(new)s WHERE page_id = %(old)s"
# `pin_message` locks the same, so that two do not pass the limit.
LOCK_COMMUNITIES = """
SELECT FROM messaging_community WHERE id IN (SELECT community_id FROM messaging_pin WHERE page_id = %(old)s)
ORDER BY id FOR NO KEY UPDATE
"""
MOVE_PINS = "UPDATE messaging_pin SET page_id = %(new)s WHERE page_id = %(old)s"
DELETE_SURPLUS_PINS = f"""
DELETE FROM messaging_pin WHERE id IN (
    SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY community_id ORDER BY id DESC) AS number
        FROM messaging_pin WHERE page_id = %(new)s
    ) pin WHERE number > {PINS_MAX}
)
"""  # noqa: S608  a constant
DELETE_PAGE = "DELETE FROM messaging_page WHERE id = %s"
DELETE_REDIRECT = "DELETE FROM messaging_movedpage WHERE old_id = %s"
UPDATE_REDIRECTS = "UPDATE messaging_movedpage SET page_id = %s WHERE page_id = %s"
INSERT_REDIRECT = """
INSERT INTO messaging_movedpage (old_id, page_id) VALUES (%s, %s)
ON CONFLICT (old_id) DO UPDATE SET page_id = excluded.page_id
"""
FIND_REDIRECT = "SELECT page_id FROM messaging_movedpage WHERE old_id = %s"
FIND_MOVED = """
SELECT old_id FROM messaging_movedpage WHERE old_id = ANY(%(ids)s::text[]) OR page_id = ANY(%(ids)s::text[])
"""


class MovedPost(NamedTuple):
    id: UUID
    community_id: UUID | None
    is_public_post: bool
    is_public_reply: bool


class PageBusy(Exception):
    """Concurrent writes locked the page in all TRIES; nothing was moved."""


class PageMoved(Exception):
    """The posts of the requested page are listed under another page id."""

    def __init__(self, page_id: str) -> None:
        super().__init__(page_id)
        self.page_id = page_id


def moved_to(page_id: str) -> str | None:
    """The page id that an id of earlier rules redirects to; None for any other id."""
    row = fetch_one(FIND_REDIRECT, [page_id])
    return row[0] if row else None


def moved_pages(page_ids: Collection[str]) -> set[str]:
    """Those of the ids that redirect to other pages, and those that redirect to these. For the setting MOVED_PAGES."""
    return {old_id for (old_id,) in fetch_all(FIND_MOVED, {"ids": list(page_ids)})}


def move_page(page: Page) -> int:
    """Move all posts of a page in one transaction; returns their number. Safe to run concurrently; raises PageBusy."""
    # Committed first, so that concurrent requests for the new page do not wait for the move.
    new = normalize_url(url=page.normalized_url)
    for _ in range(TRIES):
        try:
            return len(_move(page.pk, new.page_id))
        except DatabaseError as failure:
            if sqlstate(failure) not in RETRYABLE_SQLSTATES | {LOCK_NOT_AVAILABLE}:
                raise
        sleep(PAUSE_SECONDS)
    raise PageBusy(page.pk)


@transaction.atomic
def _move(old: str, new: str) -> list[MovedPost]:
    moved = _move_posts(old, new)
    execute(WAIT_BRIEFLY)
    if fetch_one(LOCK_PAGE, [old]) is None:
        # Another run of the command has moved it, and no post refers to it.
        return moved
    moved += _move_posts(old, new)
    execute(MOVE_COUNTS, {"old": old, "new": new} | _counts_of(moved))
    execute(MOVE_COUNTS_OF_COMMUNITIES, {"old": old, "new": new} | _counts_of_communities(moved))
    execute(MOVE_SEARCH_ENTRIES, [new, old])
    execute(MOVE_CHANGES, [new, old])
    _move_discussions(old, new)
    execute(DELETE_PAGE, [old])
    execute(DELETE_REDIRECT, [new])
    execute(UPDATE_REDIRECTS, [new, old])
    execute(INSERT_REDIRECT, [old, new])
    invalidate(page_tag(old), page_tag(new), *_tags_of(moved))
    return moved


def _move_discussions(old: str, new: str) -> None:
    for statement in (MOVE_CLOSINGS, MOVE_CLOSING_DECISIONS, LOCK_COMMUNITIES, MOVE_PINS, DELETE_SURPLUS_PINS):
        execute(statement, {"old": old, "new": new})


def _move_posts(old: str, new: str) -> list[MovedPost]:
    execute(LOCK_POSTS, [old])
    return [MovedPost(*row) for row in fetch_all(MOVE_POSTS, [new, old])]


def _counts_of(moved: list[MovedPost]) -> dict[str, int]:
    return {
        "posts": sum(post.is_public_post for post in moved),
        "replies": sum(post.is_public_reply for post in moved),
    }


def _counts_of_communities(moved: list[MovedPost]) -> dict[str, list[Any]]:
    posts = Counter(post.community_id for post in moved if post.is_public_post)
    replies = Counter(post.community_id for post in moved if post.is_public_reply)
    communities = [community_id for community_id in {*posts, *replies} if community_id is not None]
    return {
        "communities": communities,
        "posts": [posts[community_id] for community_id in communities],
        "replies": [replies[community_id] for community_id in communities],
    }


def _tags_of(moved: list[MovedPost]) -> Collection[str]:
    """The tags of the posts, and of the communities whose feeds link to them."""
    if len(moved) > TAGS_MAX:
        return [EVERYTHING]
    communities = {post.community_id for post in moved if post.community_id is not None}
    return [*(message_tag(post.id) for post in moved), *map(community_tag, communities)]
