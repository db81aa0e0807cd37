"""Moves raw events into daily counts, those of a few embeds in each transaction.

One statement deletes the raw events of its snapshot and adds them to the counts, so every event is always in exactly
one of the two, even while new events are inserted. A repeated, concurrent or interrupted roll-up changes no sum.

The SQL that aggregates raw events into counts, shared by the roll-up and the summary.

Each day of an embed has separate counts for a limited number of custom event names and of paths. Names and paths that
already have a count keep it; new ones get the remaining places, the most frequent first; the rest counts as `_other`.

Deletes old analytics: salts, and with them every link to a reader, after two days; counts after 800 days.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from embeds.analytics.ingest import KNOWN_EVENTS, OTHER, OWN_NAMES_MAX, PATHS_MAX, SLOTS, slot_of
from embeds.models import DailyCount, DailySalt, DailyVisitors
from kernel.database.sql import fetch_all
from kernel.writes.deletion import delete_old_in_batches

# Expects a CTE `taken` of raw events. The CTE `folded` has the counts to add to embeds_dailycount.
AGGREGATE = """
fresh AS (
    SELECT embed_id, day, event, path, count(*) AS n FROM taken GROUP BY embed_id, day, event, path
),
days AS (
    SELECT DISTINCT embed_id, day FROM fresh
),
known AS (
    SELECT embed_id, day, event, path, n, FALSE AS has_place FROM fresh
    UNION ALL
    SELECT embed_id, day, event, path, count, TRUE FROM embeds_dailycount JOIN days USING (embed_id, day)
),
names AS (
    SELECT embed_id, day, event FROM (
        SELECT embed_id, day, event, row_number() OVER (
            PARTITION BY embed_id, day ORDER BY bool_or(has_place) DESC, sum(n) DESC, event
        ) AS place
        FROM known WHERE event <> ALL (%(known_events)s) AND event <> %(other)s GROUP BY embed_id, day, event
    ) AS ranked WHERE place <= %(names_max)s
),
paths AS (
    SELECT embed_id, day, path FROM (
        SELECT embed_id, day, path, row_number() OVER (
            PARTITION BY embed_id, day ORDER BY bool_or(has_place) DESC, sum(n) DESC, path
        ) AS place
        FROM known WHERE path <> %(other)s GROUP BY embed_id, day, path
    ) AS ranked WHERE place <= %(paths_max)s
),
folded AS (
    SELECT embed_id, day,
        CASE WHEN names.event IS NULL AND fresh.event <> ALL (%(known_events)s) THEN %(other)s
            ELSE fresh.event END AS event,
        coalesce(paths.path, %(other)s) AS path,
        n
    FROM fresh LEFT JOIN names USING (embed_id, day, event) LEFT JOIN paths USING (embed_id, day, path)
)
"""


def aggregate_parameters() -> dict[str, Any]:
    return {"known_events": KNOWN_EVENTS, "other": OTHER, "names_max": OWN_NAMES_MAX, "paths_max": PATHS_MAX}


# The events of a transaction, with those that its last embed has besides: streams wait for the oldest transaction, and
# after a pause there may be millions. The events of one embed are ranked together.
BATCH = 20_000
# Without a parameter as the limit, for which the planner would expect a tenth of the table.
NEXT_EMBEDS = """
SELECT DISTINCT embed_id FROM (
    SELECT embed_id FROM embeds_event WHERE embed_id > %(after)s ORDER BY embed_id LIMIT {batch:d}
) AS events ORDER BY embed_id
"""
# A separate statement: the next statement must see the rows that the previous roll-up committed.
LOCK = "SELECT pg_advisory_xact_lock(hashtext('embeds'), hashtext('rollup'))"

TAKE = """
WITH taken AS (
    DELETE FROM embeds_event WHERE embed_id = ANY(%(embeds)s) RETURNING slot, day, embed_id, event, path, visitor
),
seen AS (
    INSERT INTO embeds_visitor (slot, day, embed_id, visitor)
    SELECT DISTINCT slot, day, embed_id, visitor FROM taken
    ON CONFLICT DO NOTHING
),
"""
COUNT = """,
counted AS (
    INSERT INTO embeds_dailycount (embed_id, day, path, event, count)
    SELECT embed_id, day, path, event, sum(n) FROM folded GROUP BY embed_id, day, path, event
    ON CONFLICT (embed_id, day, path, event) DO UPDATE SET count = embeds_dailycount.count + excluded.count
)
SELECT coalesce(sum(n), 0) FROM fresh
"""
MOVE = TAKE + AGGREGATE + COUNT

CLOSE = """
INSERT INTO embeds_dailyvisitors (embed_id, day, visitors)
SELECT embed_id, day, count(*) FROM embeds_visitor WHERE day < %(open)s GROUP BY embed_id, day
ON CONFLICT (embed_id, day) DO UPDATE SET visitors = embeds_dailyvisitors.visitors + excluded.visitors
"""
# A partition that no open day uses can still have such rows if clocks differ.
OPEN_VISITORS = "SELECT EXISTS (SELECT FROM embeds_visitor WHERE slot = %s AND day >= %s)"
EVENTS = "SELECT EXISTS (SELECT FROM embeds_event WHERE slot = %s)"


def roll_up(*, at: datetime) -> int:
    """Move the raw events into counts, close the days before yesterday, and return the number of events moved."""
    moved, after = 0, UUID(int=0)
    while embeds := _next_embeds(after):
        moved += _move(embeds)
        after = embeds[-1]
    _close_days(at)
    return moved


def first_open_day(at: datetime) -> date:
    """Return the day before `at` (UTC). Older days have no salt, so their visitors cannot be recognised again."""
    return at.astimezone(UTC).date() - timedelta(days=1)


def _next_embeds(after: UUID) -> list[UUID]:
    """The next embeds with raw events, by their ids."""
    return [embed_id for (embed_id,) in fetch_all(NEXT_EMBEDS.format(batch=BATCH), {"after": after})]


@transaction.atomic
def _move(embeds: list[UUID]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(LOCK)
        cursor.execute(MOVE, aggregate_parameters() | {"embeds": embeds})
        return int(cursor.fetchone()[0])


@transaction.atomic
def _close_days(at: datetime) -> None:
    """Replace the visitors of closed days by their number, and truncate the partitions that no open day uses."""
    first = first_open_day(at)
    in_use = {slot_of(first), slot_of(first + timedelta(days=1))}
    with connection.cursor() as cursor:
        cursor.execute(LOCK)
        cursor.execute(CLOSE, {"open": first})
        for slot in range(SLOTS):
            if slot not in in_use:
                _truncate(f"embeds_visitor_{slot:d}", unless=OPEN_VISITORS, parameters=[slot, first])
                _truncate(f"embeds_event_{slot:d}", unless=EVENTS, parameters=[slot])
        # Counted rows in a partition that also stores open days. They must not be counted again.
        cursor.execute("DELETE FROM embeds_visitor WHERE day < %s", [first])


def _truncate(partition: str, *, unless: str, parameters: list[Any]) -> None:
    """Truncate a partition unless the query `unless` returns true under an exclusive lock."""
    with connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {partition} IN ACCESS EXCLUSIVE MODE")
        cursor.execute(unless, parameters)
        if not cursor.fetchone()[0]:
            cursor.execute(f"TRUNCATE {partition}")


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
