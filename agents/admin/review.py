"""Queries for the review of an agent request: the requester's other agents and requests, and confusable handles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Aggregate, Count, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from agents.models import Agent, AgentRequest, AgentToken, RefusedCall
from messaging.confusables import Likeness
from messaging.models import Account, Message, MessageStatus
from messaging.services.accounts import handles_like

SHOWN_MAX = 10
COUNT = Count("pk")


@dataclass(frozen=True, slots=True)
class ConfusableHandle:
    """An existing handle that is confusable with another, and the account or pending request that has it."""

    handle: str
    likeness: Likeness
    account: Account | None
    request: AgentRequest | None


def confusable_handles(handle: str) -> list[ConfusableHandle]:
    like = handles_like(handle=handle)
    handles = [other for other, _likeness in like]
    accounts = {account.handle: account for account in Account.objects.filter(handle__in=handles)}
    pending = AgentRequest.objects.pending().filter(agent_handle__in=handles)
    requests = {request.agent_handle: request for request in pending}
    return [ConfusableHandle(other, likeness, accounts.get(other), requests.get(other)) for other, likeness in like]


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
    return requests.select_related("requester", "decided_by").order_by("-created_at", "-pk")[:SHOWN_MAX]


def next_pending(request: AgentRequest) -> AgentRequest | None:
    """The pending request after this one, else the oldest one."""
    pending = AgentRequest.objects.pending().exclude(pk=request.pk).order_by("created_at", "pk")
    later = Q(created_at__gt=request.created_at) | Q(created_at=request.created_at, pk__gt=request.pk)
    return pending.filter(later).first() or pending.first()


def _tally(rows: QuerySet[Any], *, of: str, by: Aggregate = COUNT) -> Coalesce:
    """An aggregate of `rows` by the column `of`, 0 if no row matches."""
    tallied = rows.order_by().values(of).annotate(tally=by).values("tally")
    return Coalesce(Subquery(tallied, output_field=IntegerField()), 0)
