"""Deletes old analytics: salts, and with them every link to a reader, after two days; counts after 800 days."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection

from embeds.analytics.rollup import first_open_day, roll_up
from embeds.models import DailyCount, DailySalt, DailyVisitors

# Twice the longest summary (400 days), so that it can be compared with the period before.
COUNTS_RETENTION_DAYS = 800


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete old rows and return their number by kind; with `dry_run`, only count them.

    A roll-up runs first, so that raw events of closed days are counted before they are deleted.
    """
    first_open = first_open_day(now)
    oldest = first_open - timedelta(days=COUNTS_RETENTION_DAYS)
    old = {
        "analytics salts": DailySalt.objects.filter(day__lt=first_open),
        "analytics counts": DailyCount.objects.filter(day__lt=oldest),
        "analytics visitor counts": DailyVisitors.objects.filter(day__lt=oldest),
    }
    hashes = {"analytics visitor hashes": _closed_hashes(now)}
    if dry_run:
        return {kind: rows.count() for kind, rows in old.items()} | hashes
    roll_up(at=now)
    return {kind: rows.delete()[0] for kind, rows in old.items()} | hashes


def _closed_hashes(now: datetime) -> int:
    """Count the visitor hashes of closed days, rolled up or not."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT count(*) FROM embeds_visitor WHERE day < %(open)s)"
            " + (SELECT count(*) FROM embeds_event WHERE day < %(open)s)",
            {"open": first_open_day(now)},
        )
        return int(cursor.fetchone()[0])
