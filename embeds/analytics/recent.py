"""What the widgets of several embeds reported: for a list, with one statement."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from uuid import UUID

from embeds.analytics.events import KnownEvent
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
