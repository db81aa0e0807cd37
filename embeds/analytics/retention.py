"""Deletes old analytics: salts, and with them every link to a reader, after two days; counts after 800 days."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection

from embeds.analytics.rollup import first_open_day, roll_up
from embeds.models import DailyCount, DailySalt, DailyVisitors
from kernel.writes.deletion import delete_old_in_batches

# Twice the longest summary (400 days), so that it can be compared with the period before.
COUNTS_RETENTION_DAYS = 800


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete old rows and return their number by kind; with `dry_run`, only count them.

    A roll-up runs first, so that raw events of closed days are counted before they are deleted.
    """
    first_open = first_open_day(now)
    oldest = first_open - timedelta(days=COUNTS_RETENTION_DAYS)
    salts = DailySalt.objects.filter(day__lt=first_open)
    old = {"analytics counts": DailyCount, "analytics visitor counts": DailyVisitors}
    hashes = {"analytics visitor hashes": _closed_hashes(now)}
    if dry_run:
        counts = {kind: model._default_manager.filter(day__lt=oldest).count() for kind, model in old.items()}
        return {"analytics salts": salts.count()} | counts | hashes
    roll_up(at=now)
    counts = {"analytics salts": salts.delete()[0]}
    counts |= {kind: delete_old_in_batches(model, column="day", before=oldest) for kind, model in old.items()}
    return counts | hashes


def _closed_hashes(now: datetime) -> int:
    """Count the visitor hashes of closed days, rolled up or not."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT count(*) FROM embeds_visitor WHERE day < %(open)s)"
            " + (SELECT count(*) FROM embeds_event WHERE day < %(open)s)",
            {"open": first_open_day(now)},
        )
        return int(cursor.fetchone()[0])
