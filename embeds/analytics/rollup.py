"""Moving raw events into daily counts.

One statement deletes the raw events it can see and adds what it deleted to the counts, so an event is at any moment in
exactly one of the two, whatever is taken in meanwhile. Running it again, or twice at once, changes nothing.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db import connection, transaction

from embeds.analytics.aggregation import AGGREGATE, aggregate_parameters
from embeds.analytics.events import SLOTS, slot_of

# A statement of its own: the next one must see what the roll-up before it committed.
LOCK = "SELECT pg_advisory_xact_lock(hashtext('embeds'), hashtext('rollup'))"

TAKE = """
WITH taken AS (
    DELETE FROM embeds_event RETURNING slot, day, embed_id, event, path, visitor
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
# What a partition that no open day uses may hold all the same, where clocks differ.
OPEN_VISITORS = "SELECT EXISTS (SELECT FROM embeds_visitor WHERE slot = %s AND day >= %s)"
EVENTS = "SELECT EXISTS (SELECT FROM embeds_event WHERE slot = %s)"


def roll_up(*, at: datetime) -> int:
    """Count the raw events, close the days before yesterday; the number of events moved."""
    moved = _move()
    _close_days(at)
    return moved


def first_open_day(at: datetime) -> date:
    """Yesterday: older days have no salt any more, hence no visitor that could come again."""
    return at.astimezone(UTC).date() - timedelta(days=1)


@transaction.atomic
def _move() -> int:
    with connection.cursor() as cursor:
        cursor.execute(LOCK)
        cursor.execute(MOVE, aggregate_parameters())
        return int(cursor.fetchone()[0])


@transaction.atomic
def _close_days(at: datetime) -> None:
    """Turn the visitors of closed days into numbers, and empty the partitions that no open day uses."""
    first = first_open_day(at)
    in_use = {slot_of(first), slot_of(first + timedelta(days=1))}
    with connection.cursor() as cursor:
        cursor.execute(LOCK)
        cursor.execute(CLOSE, {"open": first})
        for slot in range(SLOTS):
            if slot not in in_use:
                _truncate(f"embeds_visitor_{slot:d}", unless=OPEN_VISITORS, parameters=[slot, first])
                _truncate(f"embeds_event_{slot:d}", unless=EVENTS, parameters=[slot])
        # What was counted and lies in a partition that holds visitors of open days too. It must not be counted again.
        cursor.execute("DELETE FROM embeds_visitor WHERE day < %s", [first])


def _truncate(partition: str, *, unless: str, parameters: list[Any]) -> None:
    """Empty a partition at once, unless it holds what must stay."""
    with connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {partition} IN ACCESS EXCLUSIVE MODE")
        cursor.execute(unless, parameters)
        if not cursor.fetchone()[0]:
            cursor.execute(f"TRUNCATE {partition}")
