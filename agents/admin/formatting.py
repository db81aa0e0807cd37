"""Text and badges for the grants and states of agents, requests and tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.utils.safestring import SafeString

from agents.models import Agent, AgentRequest, AgentToken, RequestStatus, Scope, TokenStatus
from agents.services.grants import Grant, narrowed_to
from kernel.admin.formatting import badge, lines, link
from messaging.models import Community

SCOPES = {
    Scope.POST: "write posts",
    Scope.REPLY: "reply to posts",
    Scope.QUOTE: "quote posts",
    Scope.REACT: "react with emoji",
}
NAMED_MAX = 3
REQUEST_BADGES = {RequestStatus.PENDING: "waiting", RequestStatus.APPROVED: "good", RequestStatus.REJECTED: "bad"}
TOKEN_BADGES = {TokenStatus.ACTIVE: "good", TokenStatus.REVOKED: "bad", TokenStatus.SUSPENDED: "bad"}


def describe_scopes(scopes: Sequence[str]) -> str:
    return ", ".join(SCOPES[Scope(scope)] for scope in scopes)


def summarize_grant(scopes: Sequence[str], community_ids: Sequence[UUID]) -> str:
    """A summary for lists: it needs no query per row."""
    count = f"{len(community_ids)} communit{'y' if len(community_ids) == 1 else 'ies'}"
    return f"{', '.join(scopes)} in {count if community_ids else 'every community'}"


def name_grant(scopes: Sequence[str], communities: Sequence[str]) -> str:
    """`post, react in Harbour, Gazette and 3 more`."""
    more = len(communities) - NAMED_MAX
    named = ", ".join(communities[:NAMED_MAX]) + (f" and {more} more" if more > 0 else "")
    return f"{', '.join(scopes)} in {named or 'every community'}"


def describe_request(request: AgentRequest, names: Mapping[UUID, str]) -> str:
    """What was asked for and, where that is less, what is granted."""
    asked, granted = (request.scopes, request.community_ids), narrowed_to(request)
    if granted is None:
        return _named(asked, names)
    return f"asked: {_named(asked, names)}; granted: {_named(granted, names)}"


def state_text(request: AgentRequest) -> str:
    return str(request.status) if narrowed_to(request) is None else f"{request.status}, narrowed"


def _named(grant: Grant, names: Mapping[UUID, str]) -> str:
    return name_grant(grant[0], [names.get(pk, f"unknown: {pk}") for pk in grant[1]])


def describe_communities(ids: Sequence[UUID]) -> str | SafeString:
    if not ids:
        return "every community"
    known = Community.objects.in_bulk(ids)
    return lines([link(known[pk]) if pk in known else f"unknown: {pk}" for pk in ids])


def request_badge(request: AgentRequest) -> SafeString:
    return badge(state_text(request), REQUEST_BADGES.get(RequestStatus(request.status), ""))


def token_badge(token: AgentToken) -> SafeString:
    return badge(token.status, TOKEN_BADGES.get(token.status, ""))


def agent_badge(agent: Agent) -> SafeString:
    if agent.frozen_at is not None:
        return badge("frozen", "bad")
    if not agent.operator.is_active:
        return badge("operator suspended", "bad")
    if agent.account.is_active:
        return badge("working", "good")
    # The request of an erasure stops the agents, and its cancellation activates them.
    return badge("deleted" if agent.operator.erasure_due_at is None else "operator leaving", "bad")
