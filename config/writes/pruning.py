"""Deletes expired rows of idempotency, rate limits and sign-ins."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from rest_framework_simplejwt.token_blacklist.models import OutstandingToken

from config.writes.idempotency import STORED_DAYS
from config.writes.models import RateLimitEvent, StoredResponse
from config.writes.rate_limits import WINDOW_SECONDS

BATCH = 5_000


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Return the number of rows of each kind that are deleted (or would be)."""
    old = {
        "stored responses": StoredResponse.objects.filter(created_at__lt=now - timedelta(days=STORED_DAYS)),
        "rate limit events": RateLimitEvent.objects.filter(at__lt=now - timedelta(seconds=WINDOW_SECONDS)),
        "ended sign-in tokens": OutstandingToken.objects.filter(expires_at__lt=now),
    }
    return {name: rows.count() if dry_run else delete_in_batches(rows) for name, rows in old.items()}


def delete_in_batches(rows: QuerySet[Any]) -> int:
    """Delete in batches, so that locks are short; return the number of rows."""
    total = 0
    while deleted := _delete_batch(rows):
        total += deleted
    return total


@transaction.atomic
def _delete_batch(rows: QuerySet[Any]) -> int:
    """Delete rows that no other transaction has locked, so that two prunes cannot deadlock. Return their number."""
    free = rows.select_for_update(skip_locked=True, of=("self",)).order_by("pk")
    batch = list(free.values_list("pk", flat=True)[:BATCH])
    return int(rows.filter(pk__in=batch).delete()[1].get(rows.model._meta.label, 0))
