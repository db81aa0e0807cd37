"""What messaging and the kernel keep no longer."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.db.utils import IntegrityError
from rest_framework_simplejwt.token_blacklist.models import OutstandingToken

from config.api.idempotency import KEPT_DAYS
from config.api.limits import WINDOW_SECONDS
from config.api.models import LedgerEntry, StoredResponse
from messaging.models import Message, Page

UNUSED_PAGE_DAYS = 30
BATCH = 5_000


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """How many rows of each kind went (or would go)."""
    old = {
        "stored responses": StoredResponse.objects.filter(created_at__lt=now - timedelta(days=KEPT_DAYS)),
        "ledger entries": LedgerEntry.objects.filter(at__lt=now - timedelta(seconds=WINDOW_SECONDS)),
        "ended sign-in tokens": OutstandingToken.objects.filter(expires_at__lt=now),
        "unused pages": Page.objects.filter(created_at__lt=now - timedelta(days=UNUSED_PAGE_DAYS)).exclude(
            Exists(Message.objects.filter(page=OuterRef("pk")))
        ),
    }
    return {what: rows.count() if dry_run else _delete(rows) for what, rows in old.items()}


def _delete(rows: QuerySet[Any]) -> int:
    """In batches, so that no delete holds locks for long. A page that got its first post meanwhile stays."""
    total = 0
    while batch := list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH]):
        try:
            gone = rows.filter(pk__in=batch).delete()[1].get(rows.model._meta.label, 0)
        except IntegrityError:
            continue
        total += gone
        if not gone:
            break
    return total
