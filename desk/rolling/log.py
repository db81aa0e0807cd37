"""Counts the posts and reports that the change log has, each row once.

The log is read up to its horizon (`kernel.changes.reading`), so a transaction that commits late is counted when it has
committed. The first run counts the whole log, which has the last 30 days.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.db import transaction

from desk.models import Of, RollUp, Total
from desk.rolling.adding import CountKey, TotalKey, add_counts, add_totals
from kernel.changes import reading
from kernel.changes.exceptions import CursorExpired
from kernel.changes.rows import ChangeRow, Cursor
from messaging.changes.types import ChangeType
from messaging.inbox.events import SERVICE, ServiceEvent
from messaging.models import AccountKind, Message

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
