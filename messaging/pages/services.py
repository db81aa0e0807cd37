from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError
from django.utils.module_loading import import_string

from kernel.cache.versions import invalidate
from kernel.database.sql import execute, fetch_one
from messaging.cache_tags import page_tag
from messaging.pages.page_ids import InvalidUrl, NormalizedUrl, normalize
from messaging.pages.presence import NOTHING, PagePresence, presence_of
from messaging.posts.embed_views import shown_by
from messaging.posts.exceptions import InvalidUrlError

UNUSED_PAGE_DAYS = 30
PRUNE_BATCH = 5_000
# Writes nothing and locks no row if the page was issued within a day.
ISSUE = """
INSERT INTO messaging_page (id, normalized_url, created_at)
SELECT %(id)s::text, %(url)s, clock_timestamp() WHERE NOT EXISTS (
    SELECT FROM messaging_page
    WHERE id = %(id)s::text AND greatest(created_at, handed_out_at) > clock_timestamp() - interval '1 day'
)
ON CONFLICT (id) DO UPDATE SET handed_out_at = excluded.created_at
"""
COUNT_UNUSED = """
SELECT count(*) FROM messaging_page page
WHERE greatest(page.created_at, page.handed_out_at) < %(before)s
    AND NOT EXISTS (SELECT FROM messaging_message message WHERE message.page_id = page.id)
    AND NOT EXISTS (SELECT FROM messaging_closedpage closed WHERE closed.page_id = page.id)
"""
# The last page of a batch, by key. Without a parameter as the limit, for which the planner would expect a tenth of the
# table.
LAST_OF_BATCH = """
SELECT max(id) FROM (SELECT id FROM messaging_page WHERE id > %(after)s ORDER BY id LIMIT {count:d}) batch
"""
# Locking checks the condition again on a page that was issued meanwhile, and skips locked rows. OFFSET makes it look
# for a post of each page of the batch: a join could read all posts.
DELETE_UNUSED = """
DELETE FROM messaging_page WHERE id = ANY(ARRAY(
    SELECT page.id FROM messaging_page page
    WHERE page.id > %(after)s AND page.id <= %(last)s
        AND greatest(page.created_at, page.handed_out_at) < %(before)s
        AND NOT EXISTS (SELECT FROM messaging_message message WHERE message.page_id = page.id OFFSET 0)
        AND NOT EXISTS (SELECT FROM messaging_closedpage closed WHERE closed.page_id = page.id OFFSET 0)
    ORDER BY page.id FOR UPDATE OF page SKIP LOCKED
))
"""


def normalize_url(*, url: str) -> NormalizedUrl:
    """Normalise a URL and store its page, so that posts may refer to it; raises InvalidUrlError (400)."""
    page = normalized(url)
    if execute(ISSUE, {"id": page.page_id, "url": page.normalized_url}):
        # The feeds of a page show its URL.
        invalidate(page_tag(page.page_id))
    return page


class PageCommunity(NamedTuple):
    """A community whose widget a page has; `proved`: the host is its own; `closed`: it takes no posts there."""

    id: UUID
    name: str
    slug: str
    proved: bool
    closed: bool


def communities_of(page: NormalizedUrl) -> list[PageCommunity]:
    """The communities of a page, to one of which a post on it may belong (see PAGE_COMMUNITIES)."""
    return _find_communities()(page)


@cache
def _find_communities() -> Callable[[NormalizedUrl], list[PageCommunity]]:
    find: Callable[[NormalizedUrl], list[PageCommunity]] = import_string(settings.PAGE_COMMUNITIES)
    return find


def normalized(url: str) -> NormalizedUrl:
    """Normalise a URL without storing its page; raises InvalidUrlError (400)."""
    try:
        return normalize(url)
    except InvalidUrl as failure:
        raise InvalidUrlError(f"Send another URL: {failure}.", field="url") from None


class UrlPresence(NamedTuple):
    """The posts on the page of a URL; `page_id` is None if it is no http or https URL."""

    url: str
    page_id: str | None
    presence: PagePresence


def count_presence(*, urls: Sequence[str], embed_id: UUID | None = None) -> list[UrlPresence]:
    """Count the posts on the page of each URL, in one query, as an embed shows them; stores nothing.

    Raises the errors of `messaging.posts.embed_views.embed_errors`.
    """
    ids = [_page_id(url) for url in urls]
    found = presence_of({page_id for page_id in ids if page_id is not None}, shown_by(embed_id))
    return [
        UrlPresence(url, page_id, found.get(page_id or "", NOTHING)) for url, page_id in zip(urls, ids, strict=True)
    ]


def _page_id(url: str) -> str | None:
    try:
        return normalize(url).page_id
    except InvalidUrl:
        return None


def count_unused_pages(*, before: datetime) -> int:
    """The number of pages without a post, closed nowhere, that were last issued before that time."""
    row = fetch_one(COUNT_UNUSED, {"before": before})
    return row[0] if row else 0


def delete_unused_pages(*, before: datetime, batch: int) -> int:
    """Delete these pages; returns their number. A page that gets its first post meanwhile is not deleted.

    Walks the keys of all pages, a batch in each transaction: the readers of the change log wait for the oldest one.
    """
    total, after = 0, ""
    while last := _last_of_batch(after, batch):
        try:
            total += execute(DELETE_UNUSED, {"before": before, "after": after, "last": last})
        except IntegrityError:
            continue
        after = last
    return total


def _last_of_batch(after: str, count: int) -> str | None:
    row = fetch_one(LAST_OF_BATCH.format(count=count), {"after": after})
    return row[0] if row else None


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count unused pages, for the command `prune`."""
    before = now - timedelta(days=UNUSED_PAGE_DAYS)
    count = count_unused_pages(before=before) if dry_run else delete_unused_pages(before=before, batch=PRUNE_BATCH)
    return {"unused pages": count}
