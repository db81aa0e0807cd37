"""What messaging and the kernel keep no longer."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from rest_framework_simplejwt.token_blacklist.models import OutstandingToken

from config.api.models import LedgerEntry, StoredResponse
from config.writes.idempotency import STORED_DAYS
from config.writes.rate_limits import WINDOW_SECONDS
from messaging.services.pages import count_unused_pages, delete_unused_pages

UNUSED_PAGE_DAYS = 30
BATCH = 5_000


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """How many rows of each kind went (or would go)."""
    old = {
        "stored responses": StoredResponse.objects.filter(created_at__lt=now - timedelta(days=STORED_DAYS)),
        "ledger entries": LedgerEntry.objects.filter(at__lt=now - timedelta(seconds=WINDOW_SECONDS)),
        "ended sign-in tokens": OutstandingToken.objects.filter(expires_at__lt=now),
    }
    counts = {what: rows.count() if dry_run else _delete(rows) for what, rows in old.items()}
    return counts | {"unused pages": _prune_pages(before=now - timedelta(days=UNUSED_PAGE_DAYS), dry_run=dry_run)}


def _prune_pages(*, before: datetime, dry_run: bool) -> int:
    return count_unused_pages(before=before) if dry_run else delete_unused_pages(before=before, batch=BATCH)


def _delete(rows: QuerySet[Any]) -> int:
    """In batches, so that no delete holds locks for long."""
    total = 0
    while True:
        gone = _delete_batch(rows)
        total += gone
        if not gone:
            return total


@transaction.atomic
def _delete_batch(rows: QuerySet[Any]) -> int:
    """Rows that no other transaction holds: it waits for none, so two prunes cannot deadlock. Returns how many."""
    free = rows.select_for_update(skip_locked=True, of=("self",)).order_by("pk")
    batch = list(free.values_list("pk", flat=True)[:BATCH])
    return int(rows.filter(pk__in=batch).delete()[1].get(rows.model._meta.label, 0))
