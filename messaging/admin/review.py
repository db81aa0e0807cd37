"""What the list of posts shows of all its rows: the authors' histories and the reasons of open reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.urls import reverse

from kernel.admin.returning import returning
from kernel.database.sql import fetch_all
from messaging.models import AccountKind, Message, MessageStatus
from messaging.models.report import ReportReason

LATEST = 50
# Each reads at most so many posts of an author, by the index of the author's posts.
HISTORIES = """
SELECT author.id, latest.posts, latest.hidden, latest.pending
FROM unnest(%s::uuid[]) AS author (id), LATERAL (
    SELECT count(*) AS posts, count(*) FILTER (WHERE status = 'hidden') AS hidden,
        count(*) FILTER (WHERE status = 'pending') AS pending
    FROM (SELECT status FROM messaging_message WHERE author_id = author.id ORDER BY id DESC LIMIT %s) posts
) latest
"""
REPORTS = """
SELECT message_id, reason, count(*) FROM messaging_report
WHERE message_id = ANY(%s) AND closed_at IS NULL GROUP BY message_id, reason ORDER BY count(*) DESC, reason
"""


class History(NamedTuple):
    """Of the author's LATEST posts."""

    posts: int = 0
    hidden: int = 0
    pending: int = 0

    def __str__(self) -> str:
        shown = f"{self.posts} posts" if self.posts < LATEST else f"latest {LATEST} posts"
        return f"{shown}: {self.hidden} hidden, {self.pending} pending"


def prepare(rows: Sequence[Any]) -> None:
    """Set `history` and `report_reasons` of each post, with two queries."""
    authors = list({row.author_id for row in rows})
    histories = {pk: History(*counts) for pk, *counts in fetch_all(HISTORIES, [authors, LATEST])}
    reasons: dict[object, list[str]] = {}
    for message_id, reason, count in fetch_all(REPORTS, [[row.pk for row in rows]]):
        reasons.setdefault(message_id, []).append(f"{ReportReason(reason).label}: {count}")
    for row in rows:
        row.history = histories.get(row.author_id, History())
        row.report_reasons = ", ".join(reasons.get(row.pk, []))


def author_actions(row: Any) -> list[tuple[str, str]]:
    """(text, URL) of the actions on the author, whose pages lead back to the list."""
    found: list[tuple[str, str, Any]] = []
    if row.author.is_of_service:
        return []
    if row.community_id is not None:
        name = "lift-ban" if row.is_banned else "ban"
        text = f"Lift the ban from {row.community}" if row.is_banned else f"Ban the author from {row.community}"
        found.append((text, f"messaging_message_{name}", row.pk))
    if row.author_kind == AccountKind.HUMAN:
        name = "suspend" if row.author.is_active else "unsuspend"
        found.append((name.capitalize(), f"messaging_account_{name}", row.author_id))
    found.append(("Hide all posts of the author", "messaging_account_hide-posts", row.author_id))
    return [(text, returning(reverse(f"admin:{name}", args=[pk]), to=row.list_url)) for text, name, pk in found]


def next_waiting(row: Message, among: QuerySet[Message] | None = None) -> Message | None:
    """The pending post after this one, else the oldest one; `among` the posts of a list with filters."""
    rows = Message.objects.all() if among is None else among
    waiting = rows.filter(status=MessageStatus.PENDING).exclude(pk=row.pk).order_by("created_at", "id")
    return waiting.filter(created_at__gte=row.created_at).first() or waiting.first()


def links_of(row: Message) -> dict[str, Message | None]:
    """The posts that give a post its context."""
    return {"in reply to": row.parent, "quoting": row.quote}
