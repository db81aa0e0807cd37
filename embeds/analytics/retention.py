"""Deletes old analytics: salts, and with them every link to a reader, after two days; counts after 800 days."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from django.db import connection
from django.db.models import Model

from config.database.sql import execute
from embeds.analytics.rollup import first_open_day, roll_up
from embeds.models import DailyCount, DailySalt, DailyVisitors

# Twice the longest summary (400 days), so that it can be compared with the period before.
COUNTS_RETENTION_DAYS = 800
PRUNE_BATCH = 5_000
# Finds rows by the index of days. Django cannot lock rows with a composite key, as `delete_in_batches` does.
DELETE = """
DELETE FROM {table} WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM {table} WHERE day < %(before)s ORDER BY day LIMIT {count:d} FOR UPDATE SKIP LOCKED
))
"""


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
    return counts | {kind: _delete(model, before=oldest) for kind, model in old.items()} | hashes


def _delete(model: type[Model], *, before: date) -> int:
    """Delete the rows of the days before this one, a batch in each transaction; returns their number."""
    statement = DELETE.format(table=model._meta.db_table, count=PRUNE_BATCH)
    total, deleted = 0, PRUNE_BATCH
    while deleted == PRUNE_BATCH:
        deleted = execute(statement, {"before": before})
        total += deleted
    return total


def _closed_hashes(now: datetime) -> int:
    """Count the visitor hashes of closed days, rolled up or not."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT count(*) FROM embeds_visitor WHERE day < %(open)s)"
            " + (SELECT count(*) FROM embeds_event WHERE day < %(open)s)",
            {"open": first_open_day(now)},
        )
        return int(cursor.fetchone()[0])
