"""Moving the posts of a page to the page that today's rules make of its URL (`renormalize_pages --apply`).

The old page goes away in the same transaction, and its id leads to the new page from then on. A post that is under way
to the old page meanwhile fails at its commit, for its page is gone, and is written again, to the new one
(`config.database.sql.RETRYABLE_SQLSTATES`).

Writes lock posts first, in id order, and their page last, at their commit. So the posts are moved before the page is
locked; what was written in between is moved after it.
"""

from __future__ import annotations

from time import sleep
from uuid import UUID

from django.db import DatabaseError, transaction

from config.cache.versions import EVERYTHING, invalidate
from config.database.sql import RETRYABLE_SQLSTATES, execute, fetch_all, fetch_one, sqlstate
from messaging.cache_tags import message_tag, page_tag
from messaging.models import Page
from messaging.services.pages import normalize_url

LOCK_NOT_AVAILABLE = "55P03"
# Beyond so many posts, all responses are invalidated instead of those about each post.
TAGS_MAX = 1_000
TRIES = 20
PAUSE_SECONDS = 0.1

LOCK_POSTS = "SELECT FROM messaging_message WHERE page_id = %s ORDER BY id FOR NO KEY UPDATE"
MOVE_POSTS = "UPDATE messaging_message SET page_id = %s WHERE page_id = %s RETURNING id"
# A write may hold a post and wait for the page. It goes first: this transaction begins again.
WAIT_BRIEFLY = "SELECT set_config('lock_timeout', '500ms', true)"
LOCK_PAGE = "SELECT id FROM messaging_page WHERE id = %s FOR UPDATE"
DELETE_PAGE = "DELETE FROM messaging_page WHERE id = %s"
FORGET = "DELETE FROM messaging_movedpage WHERE old_id = %s"
LEAD_ON = "UPDATE messaging_movedpage SET page_id = %s WHERE page_id = %s"
REMEMBER = """
INSERT INTO messaging_movedpage (old_id, page_id) VALUES (%s, %s)
ON CONFLICT (old_id) DO UPDATE SET page_id = excluded.page_id
"""
FIND = "SELECT page_id FROM messaging_movedpage WHERE old_id = %s"


class PageBusy(Exception):
    """The page took writes all the time; nothing was moved."""


def moved_to(page_id: str) -> str | None:
    """The page that an id of earlier rules leads to; None for any other id."""
    row = fetch_one(FIND, [page_id])
    return row[0] if row else None


def move_page(page: Page) -> int:
    """Move all posts of a page, in one transaction; how many. Raises PageBusy. Safe beside itself and beside writes."""
    # Committed first: who asks for this page meanwhile does not wait for the move.
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
def _move(old: str, new: str) -> list[UUID]:
    moved = _move_posts(old, new)
    execute(WAIT_BRIEFLY)
    if fetch_one(LOCK_PAGE, [old]) is None:
        # Another run of the command has moved it.
        return moved
    moved += _move_posts(old, new)
    execute(DELETE_PAGE, [old])
    execute(FORGET, [new])
    execute(LEAD_ON, [new, old])
    execute(REMEMBER, [old, new])
    tags = map(message_tag, moved) if len(moved) <= TAGS_MAX else [EVERYTHING]
    invalidate(page_tag(old), page_tag(new), *tags)
    return moved


def _move_posts(old: str, new: str) -> list[UUID]:
    execute(LOCK_POSTS, [old])
    return [message_id for (message_id,) in fetch_all(MOVE_POSTS, [new, old])]
