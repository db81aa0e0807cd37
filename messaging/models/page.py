from __future__ import annotations

from django.db import models
from django.utils import timezone

PAGE_ID_MAX = 35


class Page(models.Model):
    """A web page with an id that normalize-url has issued, a digest of the normalised URL (`pages.page_ids`)."""

    id = models.CharField(primary_key=True, max_length=PAGE_ID_MAX)
    # No index: a URL may exceed the size limit of PostgreSQL's indexes, and the id identifies it.
    normalized_url = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)
    # When the id was last issued again, written at most once a day. Null: not since `created_at`.
    handed_out_at = models.DateTimeField(null=True, editable=False)

    def __str__(self) -> str:
        return self.normalized_url


class MovedPage(models.Model):
    """An id that a page had under earlier rules, and the page that has its posts (see `messaging.pages.moving`).

    No foreign key: the page may be pruned and issued again; the old id then redirects to it as before.
    """

    old_id = models.CharField(primary_key=True, max_length=PAGE_ID_MAX)
    page_id = models.CharField(max_length=PAGE_ID_MAX, db_index=True)
