"""Deletes expired rows of idempotency, rate limits and sign-ins."""

from __future__ import annotations

from datetime import datetime, timedelta

from rest_framework_simplejwt.token_blacklist.models import OutstandingToken

from kernel.writes.deletion import delete_in_batches
from kernel.writes.idempotency import STORED_DAYS
from kernel.writes.models import RateLimitEvent, StoredResponse
from kernel.writes.rate_limits import WINDOW_SECONDS


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Return the number of rows of each kind that are deleted (or would be)."""
    old = {
        "stored responses": StoredResponse.objects.filter(created_at__lt=now - timedelta(days=STORED_DAYS)),
        "rate limit events": RateLimitEvent.objects.filter(at__lt=now - timedelta(seconds=WINDOW_SECONDS)),
        "ended sign-in tokens": OutstandingToken.objects.filter(expires_at__lt=now),
    }
    return {name: rows.count() if dry_run else delete_in_batches(rows) for name, rows in old.items()}
