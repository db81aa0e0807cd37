"""Stores since when something is wrong, and tells super admins by the change log, of which `mails` makes mails.

Any number of processes may watch. The one that stores that it tells adds the event in the same transaction, so each
trouble is told once, and so is its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from desk.health.checks import Check, checks
from desk.models import Trouble
from kernel.changes.log import append
from kernel.database.sql import database_now
from messaging.inbox.events import ServiceEvent, about_trouble

# A trouble that ends sooner, such as that of a restart, is not told.
PATIENCE = timedelta(minutes=2)


def watch() -> None:
    """Check, and store what has changed."""
    record(checks(), now=database_now())


def record(found: Sequence[Check], *, now: datetime) -> None:
    """Store the troubles among `found` and end those that are over; checks that are not in `found` stay as they are."""
    for check in found:
        if check.trouble:
            _store(check, now=now)
        else:
            _end(check)


@transaction.atomic
def _store(check: Check, *, now: datetime) -> None:
    # What stopped to run is wrong since it ran last.
    since = check.at or now
    new = Trouble(name=check.name, text=check.trouble, since=since, seen_at=now)
    Trouble.objects.bulk_create([new], ignore_conflicts=True)
    trouble = Trouble.objects.select_for_update().filter(name=check.name).first()
    if trouble is None:
        return
    trouble.seen_at = now
    if trouble.told_at is None and now - trouble.since >= PATIENCE:
        trouble.told_at = now
        append([about_trouble(ServiceEvent.TROUBLE_BEGAN, text=trouble.text, since=trouble.since)])
    trouble.save(update_fields=["seen_at", "told_at"])


@transaction.atomic
def _end(check: Check) -> None:
    trouble = Trouble.objects.select_for_update().filter(name=check.name).first()
    if trouble is None:
        return
    if trouble.told_at is not None:
        append([about_trouble(ServiceEvent.TROUBLE_ENDED, text=trouble.text, since=trouble.since)])
    trouble.delete()


def troubles() -> dict[str, Trouble]:
    """By the names of their checks."""
    return {trouble.name: trouble for trouble in Trouble.objects.all()}
