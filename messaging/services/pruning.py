"""What messaging and the kernel keep no longer."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from rest_framework_simplejwt.token_blacklist.models import OutstandingToken

from config.api.idempotency import KEPT_DAYS
from config.api.limits import WINDOW_SECONDS
from config.api.models import LedgerEntry, StoredResponse
from messaging.services.pages import count_unused_pages, delete_unused_pages

UNUSED_PAGE_DAYS = 30
BATCH = 5_000


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """How many rows of each kind went (or would go)."""
    old = {
        "stored responses": StoredResponse.objects.filter(created_at__lt=now - timedelta(days=KEPT_DAYS)),
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
    while batch := list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH]):
        gone = rows.filter(pk__in=batch).delete()[1].get(rows.model._meta.label, 0)
        total += gone
        if not gone:
            break
    return total
