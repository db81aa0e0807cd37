"""Announces agent tokens that expire soon, once each."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from agents.changes import record_expiring
from agents.models import AgentToken
from kernel.database.sql import database_now
from kernel.writes.retries import retried

ANNOUNCED_DAYS = 7
BATCH = 500


def announce_expiring_tokens() -> int:
    """Announce the active tokens that expire within ANNOUNCED_DAYS; returns their number. Safe to run concurrently."""
    total = 0
    while announced := _announce_batch():
        total += announced
    return total


@retried
@transaction.atomic
def _announce_batch() -> int:
    """Token and event change in one transaction. A token that another transaction has locked is left to the next run.

    After the lock, PostgreSQL checks again that the token is not announced.
    """
    before = database_now() + timedelta(days=ANNOUNCED_DAYS)
    due = AgentToken.objects.active().filter(expiry_announced_at=None, expires_at__lte=before)
    locked = due.select_for_update(of=("self",), no_key=True, skip_locked=True).select_related("agent")
    tokens = list(locked.defer("digest").order_by("id")[:BATCH])
    AgentToken.objects.filter(pk__in=[token.pk for token in tokens]).update(expiry_announced_at=Now())
    record_expiring(tokens)
    return len(tokens)
