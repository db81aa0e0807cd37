"""The SQL that aggregates raw events into counts, shared by the roll-up and the summary.

Each day of an embed has separate counts for a limited number of custom event names and of paths. Names and paths that
already have a count keep it; new ones get the remaining places, the most frequent first; the rest counts as `_other`.
"""

from __future__ import annotations

from typing import Any

from embeds.analytics.events import KNOWN_EVENTS, OTHER, OWN_NAMES_MAX, PATHS_MAX

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
