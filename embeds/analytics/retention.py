"""What is kept no longer: salts after two days (and with them every link to a reader), counts after two years."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection

from embeds.analytics.rollup import first_open_day, roll_up
from embeds.models import DailyCount, DailySalt, DailyVisitors

# Enough for the longest summary (400 days) and the same stretch a year before.
COUNTS_KEPT_DAYS = 800


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """How many rows of each kind went (or would go). Raw events of closed days are counted before they go."""
    first_open = first_open_day(now)
    oldest = first_open - timedelta(days=COUNTS_KEPT_DAYS)
    old = {
        "analytics salts": DailySalt.objects.filter(day__lt=first_open),
        "analytics counts": DailyCount.objects.filter(day__lt=oldest),
        "analytics visitor counts": DailyVisitors.objects.filter(day__lt=oldest),
    }
    hashes = {"analytics visitor hashes": _closed_hashes(now)}
    if dry_run:
        return {what: rows.count() for what, rows in old.items()} | hashes
    roll_up(at=now)
    return {what: rows.delete()[0] for what, rows in old.items()} | hashes


def _closed_hashes(now: datetime) -> int:
    """Visitor hashes of closed days, rolled up or not."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT count(*) FROM embeds_visitor WHERE day < %(open)s)"
            " + (SELECT count(*) FROM embeds_event WHERE day < %(open)s)",
            {"open": first_open_day(now)},
        )
        return int(cursor.fetchone()[0])
