from __future__ import annotations

from datetime import datetime, timedelta

from desk.models import DailyCount, DailyTotal, Trouble

COUNT_DAYS = 100
TOTAL_DAYS = 800
TROUBLE_DAYS = 7


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count old numbers, for the command `prune`."""
    old = {
        "daily counts of the desk": DailyCount.objects.filter(day__lt=(now - timedelta(days=COUNT_DAYS)).date()),
        "daily totals of the desk": DailyTotal.objects.filter(day__lt=(now - timedelta(days=TOTAL_DAYS)).date()),
        "troubles of hosts that are gone": Trouble.objects.filter(seen_at__lt=now - timedelta(days=TROUBLE_DAYS)),
    }
    return {kind: rows.count() if dry_run else rows.delete()[0] for kind, rows in old.items()}
