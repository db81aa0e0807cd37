"""Announces in the change log what an import has added to each page, or its undoing has removed: once a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.db import models, transaction

from kernel.cache.rendering import to_json
from kernel.cache.versions import invalidate
from kernel.changes.log import NewChange, append
from kernel.database.sql import execute
from kernel.writes.transaction import retried
from messaging.cache_tags import page_tag
from messaging.changes.types import ChangeType
from messaging.models import MovedPage
from moving.models import ImportedPage, Move

BATCH = 500
COUNT_PAGES = """
INSERT INTO moving_importedpage AS page (move_id, page_id, posts, announced)
SELECT %s, id, posts, 0 FROM json_to_recordset(%s::json) AS counted (id text, posts int)
ON CONFLICT (move_id, page_id) DO UPDATE SET posts = page.posts + excluded.posts
"""


def count_on_pages(posts: Mapping[str, int], *, move: Move) -> None:
    """Add to the numbers of posts, by page id, that the import has brought; `announce` tells them."""
    # In the order in which `announce` locks them.
    rows = [{"id": page_id, "posts": count} for page_id, count in sorted(posts.items())]
    execute(COUNT_PAGES, [move.pk, to_json(rows).decode()])


def announce(move: Move, *, tell: Callable[[], None]) -> None:
    """Safe to run concurrently: the rows of pages are locked."""
    while _announce(move):
        tell()


@retried
@transaction.atomic
def _announce(move: Move) -> int:
    waiting = ImportedPage.objects.filter(move=move).exclude(posts=models.F("announced")).order_by("page_id")
    pages = list(waiting.select_for_update()[:BATCH])
    # Pages may have got other ids since the import wrote their posts.
    moved = dict(MovedPage.objects.filter(old_id__in=[page.page_id for page in pages]).values_list("old_id", "page_id"))
    append(
        [
            NewChange(
                type=ChangeType.PAGE_IMPORTED,
                page_id=moved.get(page.page_id, page.page_id),
                community_id=move.community_id,
                data={"posts": page.posts - page.announced},
            )
            for page in pages
        ]
    )
    for page in pages:
        page.announced = page.posts
    ImportedPage.objects.bulk_update(pages, ["announced"])
    invalidate(*(page_tag(moved.get(page.page_id, page.page_id)) for page in pages))
    return len(pages)
