"""Sums daily counts and raw events: a roll-up does not change the result.

What the widgets of several embeds reported: for a list, with one statement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from embeds.analytics.ingest import KNOWN_EVENTS, OTHER, KnownEvent
from embeds.analytics.rollup import AGGREGATE, aggregate_parameters
from kernel.api.exceptions import InvalidParameter
from kernel.database.sql import fetch_all

POST_EVENTS = [KnownEvent.POST_CREATED.value, KnownEvent.REPLY_CREATED.value]

COUNT = """
SELECT embed_id, day, sum(n)::bigint FROM (
    SELECT embed_id, day, count AS n FROM embeds_dailycount
    WHERE embed_id = ANY(%(embeds)s) AND day BETWEEN %(first)s AND %(last)s AND event = ANY(%(events)s)
    UNION ALL
    SELECT embed_id, day, 1 FROM embeds_event
    WHERE embed_id = ANY(%(embeds)s) AND day BETWEEN %(first)s AND %(last)s AND event = ANY(%(events)s)
) AS every GROUP BY embed_id, day
"""
# Each embed with one look into an index.
VISITED = """
SELECT id FROM unnest(%s::uuid[]) AS one (id)
WHERE EXISTS (SELECT FROM embeds_dailycount WHERE embed_id = id)
    OR EXISTS (SELECT FROM embeds_event WHERE embed_id = id)
"""


def visited(embed_ids: Sequence[UUID]) -> set[UUID]:
    """The embeds of which events are stored."""
    return {embed_id for (embed_id,) in fetch_all(VISITED, [list(embed_ids)])}


def posts_by_day(*, embed_ids: Sequence[UUID], first: date, last: date) -> dict[UUID, dict[date, int]]:
    """Posts and replies of each embed that has any; days without one are absent."""
    values = {"embeds": list(embed_ids), "first": first, "last": last, "events": POST_EVENTS}
    counts: dict[UUID, dict[date, int]] = {}
    for embed_id, day, count in fetch_all(COUNT, values):
        counts.setdefault(embed_id, {})[day] = count
    return counts


PAGES_SHOWN = 100
DAYS_MAX = 400
DAYS_DEFAULT = 30

# One statement, so one snapshot: an event is read as raw or as counted, never both or neither.
TAKE = """
WITH taken AS (
    SELECT embed_id, day, event, path FROM embeds_event
    WHERE embed_id = %(embed)s AND day BETWEEN %(first)s AND %(last)s
),
"""
ADD_UP = """,
every AS (
    SELECT day, path, event, count AS n FROM embeds_dailycount
    WHERE embed_id = %(embed)s AND day BETWEEN %(first)s AND %(last)s
    UNION ALL
    SELECT day, path, event, n FROM folded
)
SELECT day, path, event, sum(n)::bigint FROM every GROUP BY GROUPING SETS ((day, event), (path, event))
"""
COUNTS = TAKE + AGGREGATE + ADD_UP

VISITORS = """
SELECT day, sum(visitors)::bigint FROM (
    SELECT day, visitors FROM embeds_dailyvisitors
    WHERE embed_id = %(embed)s AND day BETWEEN %(first)s AND %(last)s
    UNION ALL
    SELECT day, count(*) FROM (
        SELECT day, visitor FROM embeds_visitor
        WHERE embed_id = %(embed)s AND day BETWEEN %(first)s AND %(last)s
        UNION
        SELECT day, visitor FROM embeds_event
        WHERE embed_id = %(embed)s AND day BETWEEN %(first)s AND %(last)s
    ) AS open_days GROUP BY day
) AS every GROUP BY day
"""


@dataclass(slots=True)
class Summary:
    """The counts of an embed from `first` to `last`, inclusive. `days` has every day, `pages` the busiest ones."""

    embed_id: UUID
    first: date
    last: date
    days: dict[date, Counter[str]]
    pages: dict[str, Counter[str]] = field(default_factory=dict)
    visitors: dict[date, int] = field(default_factory=dict)

    @property
    def counts(self) -> Counter[str]:
        """The number of each event in the period."""
        return sum_of(self.days.values())

    @property
    def totals(self) -> dict[str, int]:
        counts = self.counts
        return {event: counts[event] for event in KNOWN_EVENTS}

    @property
    def events(self) -> dict[str, int]:
        """The counts of custom events."""
        return {event: count for event, count in sorted(self.counts.items()) if event not in KNOWN_EVENTS}

    @property
    def unique_visitors(self) -> int:
        return sum(self.visitors.values())

    @property
    def by_day(self) -> list[dict[str, Any]]:
        return [
            {"date": day, "counts": counts, "visitors": self.visitors.get(day, 0)} for day, counts in self.days.items()
        ]

    @property
    def by_page(self) -> list[dict[str, Any]]:
        return [{"path": path, "counts": counts} for path, counts in self.pages.items()]

    @property
    def click_rate(self) -> float | None:
        """Clicks per view of the trigger; None without a view."""
        counts = self.counts
        views = counts[KnownEvent.TRIGGER_VIEW]
        return round(counts[KnownEvent.TRIGGER_CLICK] / views, 4) if views else None


def period(first: date | None, last: date | None, *, today: date) -> tuple[date, date]:
    """Return the first and last day; default: the 30 days up to today. Raises InvalidInput (400) for over 400 days."""
    last = last or today
    first = first or last - min(timedelta(days=DAYS_DEFAULT - 1), last - date.min)
    if not 0 <= (last - first).days < DAYS_MAX:
        raise InvalidParameter(f"Send `from` and `to` so that they span 1 to {DAYS_MAX} days.", field="from")
    return first, last


def summarize(*, embed_id: UUID, first: date, last: date) -> Summary:
    summary = Summary(embed_id, first, last, days={day: Counter() for day in days_between(first, last)})
    parameters: dict[str, Any] = {"embed": embed_id, "first": first, "last": last}
    pages: dict[str, Counter[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, parameters | aggregate_parameters())
        for day, path, event, count in cursor.fetchall():
            counts = summary.days[day] if path is None else pages.setdefault(path, Counter())
            counts[event] += count
        cursor.execute(VISITORS, parameters)
        summary.visitors = dict(cursor.fetchall())
    summary.pages = _busiest(pages)
    return summary


def days_between(first: date, last: date) -> Iterator[date]:
    for offset in range((last - first).days + 1):
        yield first + timedelta(days=offset)


def table_of(summary: Summary) -> list[list[Any]]:
    """Return a header and one row per day, for CSV: the known events, then the custom events of the period."""
    events = [*KNOWN_EVENTS, *sorted(set(summary.counts) - set(KNOWN_EVENTS))]
    rows = [
        [day.isoformat(), summary.visitors.get(day, 0), *(counts[event] for event in events)]
        for day, counts in summary.days.items()
    ]
    return [["date", "uniqueVisitors", *events], *rows]


def sum_of(counters: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def _busiest(pages: dict[str, Counter[str]]) -> dict[str, Counter[str]]:
    """Return the pages with the most events; `_other` sums the rest, so that the totals are exact."""
    rest = [pages.pop(OTHER)] if OTHER in pages else []
    ordered = sorted(pages, key=lambda path: (-pages[path].total(), path))
    rest += [pages[path] for path in ordered[PAGES_SHOWN:]]
    shown = {path: pages[path] for path in ordered[:PAGES_SHOWN]}
    return shown | ({OTHER: sum_of(rest)} if rest else {})
