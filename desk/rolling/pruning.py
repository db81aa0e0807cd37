from __future__ import annotations

from datetime import datetime, timedelta

from desk.models import DailyCount, DailyTotal, Trouble
from kernel.writes.deletion import delete_in_batches, delete_old_in_batches

COUNT_DAYS = 100
TOTAL_DAYS = 800
TROUBLE_DAYS = 7


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count old numbers, for the command `prune`."""
    troubles = Trouble.objects.filter(seen_at__lt=now - timedelta(days=TROUBLE_DAYS))
    return {
        "daily counts of the desk": _prune(DailyCount, now - timedelta(days=COUNT_DAYS), dry_run=dry_run),
        "daily totals of the desk": _prune(DailyTotal, now - timedelta(days=TOTAL_DAYS), dry_run=dry_run),
        "troubles of hosts that are gone": troubles.count() if dry_run else delete_in_batches(troubles),
    }


def _prune(model: type[DailyCount | DailyTotal], oldest: datetime, *, dry_run: bool) -> int:
    """Delete or count the numbers of the days before that of `oldest`."""
    if dry_run:
        return model.objects.filter(day__lt=oldest.date()).count()
    return delete_old_in_batches(model, column="day", before=oldest.date())
