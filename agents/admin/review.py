"""Queries for the review of an agent request: the requester's other agents and requests."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Aggregate, Count, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from agents.admin.formatting import state_text
from agents.models import Agent, AgentRequest, AgentToken, RefusedCall, RequestStatus
from agents.services import UNDO_SECONDS
from messaging.models import Account, Message, MessageStatus

SHOWN_MAX = 10
COUNT = Count("pk")


def agents_of(requester: Account, *, exclude: UUID | None) -> QuerySet[Agent]:
    """The agents of a person, newest first, with the counts `posts`, `hidden`, `active_tokens` and `refused`."""
    agents = Agent.objects.operated_by(requester).exclude(pk=exclude).select_related("account", "operator")
    posts = Message.objects.filter(author=OuterRef("pk"))
    return agents.annotate(
        posts=_tally(posts, of="author"),
        hidden=_tally(posts.filter(status=MessageStatus.HIDDEN), of="author"),
        active_tokens=active_token_count(),
        refused=_tally(RefusedCall.objects.filter(agent=OuterRef("pk")), of="agent", by=Sum("calls")),
    ).order_by("-created_at", "-pk")[:SHOWN_MAX]


def active_token_count() -> Coalesce:
    """The number of active tokens of the outer query's agent."""
    return _tally(AgentToken.objects.active().filter(agent=OuterRef("pk")), of="agent")


def other_requests(request: AgentRequest) -> QuerySet[AgentRequest]:
    """The requester's other requests, newest first."""
    requests = AgentRequest.objects.asked_by(request.requester).exclude(pk=request.pk)
    return requests.select_related("requester", "decided_by", "agent").order_by("-created_at", "-pk")[:SHOWN_MAX]


def next_pending(request: AgentRequest, among: QuerySet[AgentRequest] | None = None) -> AgentRequest | None:
    """The pending request after this one, else the oldest one; `among` the rows of a list with filters."""
    rows = AgentRequest.objects.all() if among is None else among
    pending = rows.filter(status=RequestStatus.PENDING).exclude(pk=request.pk).order_by("created_at", "pk")
    later = Q(created_at__gt=request.created_at) | Q(created_at=request.created_at, pk__gt=request.pk)
    return pending.filter(later).first() or pending.first()


def recently_decided(by: Account) -> AgentRequest | None:
    """The latest decision of a super admin, if it can still be undone by the clock of this host."""
    since = timezone.now() - timedelta(seconds=UNDO_SECONDS)
    decided = AgentRequest.objects.filter(decided_at__gte=since, decided_by=by).select_related("requester", "agent")
    latest = decided.exclude(status=RequestStatus.CANCELLED).order_by(F("decided_at").desc()).first()
    if latest is not None:
        latest.outcome = state_text(latest)  # type: ignore[attr-defined]  # for the template
    return latest


def _tally(rows: QuerySet[Any], *, of: str, by: Aggregate = COUNT) -> Coalesce:
    """An aggregate of `rows` by the column `of`, 0 if no row matches."""
    tallied = rows.order_by().values(of).annotate(tally=by).values("tally")
    return Coalesce(Subquery(tallied, output_field=IntegerField()), 0)
