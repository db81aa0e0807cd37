"""Rolls up numbers by day, so that a page reads a few rows beside any number of posts.

Posts and reports are added from the change log, each row once: the cursor moves in the transaction that adds
(`log`). What has an indexed time and is little of a day is recounted for the latest days (`days`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction

from agents.models import RequestStatus
from desk.models import DailyCount, DailyTotal, Of, RollUp, Total, Trouble
from embeds.analytics.ingest import VIEW, VIEW_IN_PAGE
from embeds.models import EmbedMode
from kernel.changes import reading
from kernel.changes.reading import CursorExpired
from kernel.changes.rows import ChangeRow, Cursor
from kernel.database.sql import execute
from kernel.writes.deletion import delete_in_batches, delete_old_in_batches
from messaging.changes.types import ChangeType
from messaging.inbox.events import SERVICE, ServiceEvent
from messaging.models import AccountKind, Message

CountKey = tuple[UUID, str, date]
TotalKey = tuple[str, date, str]
Key = TypeVar("Key", CountKey, TotalKey)

ADD_COUNTS = """
INSERT INTO desk_dailycount (subject_id, kind, day, count)
SELECT * FROM unnest(%(subjects)s::uuid[], %(kinds)s::text[], %(days)s::date[], %(counts)s::int[])
ON CONFLICT (subject_id, kind, day) DO UPDATE SET count = desk_dailycount.count + excluded.count
"""
ADD_TOTALS = """
INSERT INTO desk_dailytotal (kind, day, name, count)
SELECT * FROM unnest(%(kinds)s::text[], %(days)s::date[], %(names)s::text[], %(counts)s::bigint[])
ON CONFLICT (kind, day, name) DO UPDATE SET count = desk_dailytotal.count + excluded.count
"""


def add_counts(counts: Counter[CountKey]) -> None:
    rows = _sorted(counts)
    if rows:
        execute(
            ADD_COUNTS,
            {
                "subjects": [key[0] for key, _count in rows],
                "kinds": [key[1] for key, _count in rows],
                "days": [key[2] for key, _count in rows],
                "counts": [count for _key, count in rows],
            },
        )


def add_totals(totals: Counter[TotalKey]) -> None:
    rows = _sorted(totals)
    if rows:
        execute(
            ADD_TOTALS,
            {
                "kinds": [key[0] for key, _count in rows],
                "days": [key[1] for key, _count in rows],
                "names": [key[2] for key, _count in rows],
                "counts": [count for _key, count in rows],
            },
        )


def _sorted(counts: Mapping[Key, int]) -> list[tuple[Key, int]]:
    return sorted(counts.items())


BATCH = 1_000


class Counted:
    """Selects the rows that are counted. Of a report, the one for the service: moderators have others."""

    condition = "true"
    matches = "type = ANY(%(types)s) AND (account_id IS NULL OR account_id = %(service)s)"
    values: Mapping[str, Any] = MappingProxyType(
        {"types": [ChangeType.MESSAGE_CREATED.value, ServiceEvent.POST_REPORTED.value], "service": SERVICE}
    )


def count_log() -> bool:
    """Count the next rows of the log; returns whether more follow. Safe to run concurrently."""
    cursor = roll_up_row().cursor
    try:
        batch = reading.read(Counted(), cursor, limit=BATCH)
    except CursorExpired:
        return _go_on(cursor)
    if batch.next == cursor:
        return False
    return _move(cursor, to=batch.next, rows=batch.rows) and batch.has_more


def roll_up_row() -> RollUp:
    row = RollUp.objects.first()
    if row is None:
        RollUp.objects.bulk_create([RollUp()], ignore_conflicts=True)
        row = RollUp.objects.get()
    return row


def _go_on(expired: Cursor | None) -> bool:
    """Count all rows that are left, if those after the cursor were deleted. Otherwise the log goes on in another
    cluster, or the cursor is that of a lost row: what was counted cannot be told from what was not.
    """
    newest = reading.now()
    is_pruned = expired is not None and newest.generation == expired.generation and newest.position > expired.position
    return _move(expired, to=None if is_pruned else newest, rows=[]) and is_pruned


def _columns(cursor: Cursor | None) -> dict[str, int | None]:
    return {"generation": None, "xid": None, "row_id": None} if cursor is None else {**cursor.columns()}


@transaction.atomic
def _move(cursor: Cursor | None, *, to: Cursor | None, rows: Sequence[ChangeRow]) -> bool:
    """Move the cursor and add the rows; adds nothing if another process has moved it."""
    if RollUp.objects.filter(**_columns(cursor)).update(**_columns(to)):
        counts, totals = _counted(rows)
        add_counts(counts)
        add_totals(totals)
    return True


def _counted(rows: Sequence[ChangeRow]) -> tuple[Counter[CountKey], Counter[TotalKey]]:
    counts: Counter[CountKey] = Counter()
    totals: Counter[TotalKey] = Counter()
    posts = Message.objects.only("author_id", "author_kind", "community_id", "embed_id").in_bulk(
        [row.message_id for row in rows if row.message_id is not None]
    )
    for row in rows:
        day, post = row.at.astimezone(UTC).date(), posts.get(row.message_id) if row.message_id else None
        if row.type == ServiceEvent.POST_REPORTED:
            totals[Total.REPORTS.value, day, ""] += 1
        # A deleted post has its row; without one it was erased together with its author.
        if post is None:
            continue
        if row.type == ChangeType.MESSAGE_CREATED:
            totals[(Total.AGENTS if _is_agents(post) else Total.PEOPLE).value, day, ""] += 1
        counts.update((subject, kind.value, day) for subject, kind in _subjects(row.type, post))
    return counts, totals


def _subjects(change: str, post: Message) -> Iterable[tuple[UUID, Of]]:
    is_report, is_agents = change == ServiceEvent.POST_REPORTED, _is_agents(post)
    if is_report:
        yield post.author_id, Of.REPORTED
    else:
        yield post.author_id, Of.AGENT if is_agents else Of.PERSON
    if post.community_id is not None:
        of_posts = Of.COMMUNITY_AGENTS if is_agents else Of.COMMUNITY_PEOPLE
        yield post.community_id, Of.COMMUNITY_REPORTS if is_report else of_posts
    if post.embed_id is not None and not is_report:
        yield post.embed_id, Of.EMBED


def _is_agents(post: Message) -> bool:
    return post.author_kind == AccountKind.AGENT


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
