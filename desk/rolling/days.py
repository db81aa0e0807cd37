"""Recounts the latest days of what has an indexed time, and chooses the agents and communities with the most posts.

A recount replaces the numbers of a day, those of views by higher ones only, so it may be repeated. The day before the
last one is recounted as well: a transaction that began on it may have committed later.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from django.db import transaction

from agents.models import RequestStatus
from desk.models import Of, RollUp, Total
from embeds.analytics.events import VIEW, VIEW_IN_PAGE
from embeds.models.embed import EmbedMode
from kernel.database.sql import execute

# The days that plots show.
DAYS = 30
TOP_MAX = 10
MARGIN = timedelta(days=1)

# Of the median of the last days there is one row, or none.
FORGET = f"""
DELETE FROM desk_dailytotal
WHERE kind = ANY(%(kinds)s) AND (day >= %(first)s OR kind = '{Total.MEDIAN_SECONDS.value}')
"""  # noqa: S608  constants, as below
# Views are not deleted before: the counts of a deleted embed are gone, and must not lower what was counted.
COUNT = """
INSERT INTO desk_dailytotal (kind, day, name, count) {select}
ON CONFLICT (kind, day, name) DO UPDATE SET count = greatest(desk_dailytotal.count, excluded.count)
"""
DAY_OF = "({column} AT TIME ZONE 'UTC')::date"
REQUESTS = f"""
SELECT '{Total.REQUESTS.value}', {DAY_OF.format(column="created_at")}, '', count(*) FROM agents_agentrequest
WHERE created_at >= %(start)s AND created_at < %(end)s GROUP BY 2
"""  # noqa: S608
# What is decided later was pending at the end of the day.
PENDING = f"""
SELECT '{Total.PENDING.value}', day, '', count(*)
FROM generate_series(%(first)s::timestamp, %(today)s::timestamp, '1 day') AS day
JOIN agents_agentrequest ON created_at < (day + interval '1 day') AT TIME ZONE 'UTC'
AND (decided_at IS NULL OR decided_at >= (day + interval '1 day') AT TIME ZONE 'UTC') GROUP BY day
"""  # noqa: S608
DECISIONS = f"""
SELECT '{Total.DECISIONS.value}', {DAY_OF.format(column="decided_at")}, status, count(*) FROM agents_agentrequest
WHERE decided_at >= %(start)s AND decided_at < %(end)s GROUP BY 2, 3
"""  # noqa: S608
SECONDS = "round(percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM decided_at - created_at)))"
DECIDED = "decided_at >= %({start})s AND decided_at < %(end)s AND status = ANY(%(decided)s)"
DECISION_SECONDS = f"""
SELECT '{Total.DECISION_SECONDS.value}', {DAY_OF.format(column="decided_at")}, '', {SECONDS}
FROM agents_agentrequest WHERE {DECIDED.format(start="start")} GROUP BY 2
"""  # noqa: S608
MEDIAN_SECONDS = f"""
SELECT '{Total.MEDIAN_SECONDS.value}', %(today)s::date, '', {SECONDS}
FROM agents_agentrequest WHERE {DECIDED.format(start="month")} HAVING count(*) > 0
"""  # noqa: S608
REFUSALS = f"""
SELECT '{Total.REFUSALS.value}', day, split_part(code, ':', 1), sum(calls) FROM agents_refusedcall
WHERE day >= %(first)s AND day <= %(today)s GROUP BY 2, 3
"""  # noqa: S608
VIEWS = f"""
SELECT '{Total.VIEWS.value}', day, '', sum(count)
FROM embeds_dailycount counted LEFT JOIN embeds_embed embed ON embed.id = counted.embed_id
WHERE day >= %(first)s AND day <= %(today)s
AND event = CASE embed.trigger_config ->> 'mode' WHEN %(inline)s THEN %(view_in_page)s ELSE %(view)s END GROUP BY 2
"""  # noqa: S608
RECOUNTED = {
    Total.REQUESTS: REQUESTS,
    Total.PENDING: PENDING,
    Total.DECISIONS: DECISIONS,
    Total.DECISION_SECONDS: DECISION_SECONDS,
    Total.MEDIAN_SECONDS: MEDIAN_SECONDS,
    Total.REFUSALS: REFUSALS,
    Total.VIEWS: VIEWS,
}

FORGET_TOP = "DELETE FROM desk_top"
TOP = """
INSERT INTO desk_top (kind, place, subject_id, count)
SELECT %(top)s, row_number() OVER (ORDER BY sum(count) DESC, subject_id), subject_id, sum(count)
FROM desk_dailycount WHERE day > %(since)s AND day <= %(today)s AND kind = ANY(%(kinds)s)
GROUP BY subject_id ORDER BY sum(count) DESC, subject_id LIMIT %(limit)s
"""
TOPS = {"agents": [Of.AGENT.value], "communities": [Of.COMMUNITY_PEOPLE.value, Of.COMMUNITY_AGENTS.value]}


@transaction.atomic
def recount_days(*, at: datetime, interval_minutes: int | None = None) -> None:
    """Recount the days since the last run, at most DAYS; `at` is the time of the database. The row of the roll-up is
    locked, so that one process recounts at a time. `interval_minutes`: see the model.
    """
    row = RollUp.objects.select_for_update().get()
    today = at.astimezone(UTC).date()
    values = _values(first=_first_day(row.last_day, today), today=today)
    execute(FORGET, {"kinds": [kind.value for kind in RECOUNTED if kind != Total.VIEWS], "first": values["first"]})
    for select in RECOUNTED.values():
        execute(COUNT.format(select=select), values)
    execute(FORGET_TOP)
    for top, kinds in TOPS.items():
        since = today - timedelta(days=DAYS)
        execute(TOP, {"top": top, "since": since, "today": today, "kinds": kinds, "limit": TOP_MAX})
    row.last_day, row.finished_at, row.interval_minutes = today, at, interval_minutes
    row.save(update_fields=["last_day", "finished_at", "interval_minutes"])


def _first_day(last: date | None, today: date) -> date:
    oldest = today - timedelta(days=DAYS - 1)
    return oldest if last is None else max(oldest, min(last, today) - MARGIN)


def _values(*, first: date, today: date) -> dict[str, object]:
    return {
        "first": first,
        "today": today,
        "start": _midnight(first),
        "month": _midnight(today - timedelta(days=DAYS - 1)),
        "end": _midnight(today + timedelta(days=1)),
        "decided": [RequestStatus.APPROVED.value, RequestStatus.REJECTED.value],
        "view": VIEW.value,
        "view_in_page": VIEW_IN_PAGE.value,
        "inline": EmbedMode.INLINE.value,
    }


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
