"""Creates and decides agent requests. The caller of approve_request and reject_request checks for a super admin.

Narrows the scopes and communities of a grant. Only an approved request that widens an agent adds to its grant.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.db import transaction

from agents.cache_tags import agent_tag
from agents.changes import record_decided, record_requested
from agents.exceptions import (
    AgentNotFound,
    RequestNotFound,
    RequestNotPending,
    TooManyPendingRequests,
    WideningPending,
)
from agents.models import COMMUNITIES_MAX, PENDING_MAX, Agent, AgentRequest, RequestStatus, Scope
from kernel.admin.audit import log_decision, transition
from kernel.api.credentials import Credential
from kernel.api.exceptions import InvalidInput
from kernel.cache.versions import invalidate
from kernel.database.sql import database_now
from kernel.writes.transaction import retried
from messaging.accounts.services import claim_handle, create_agent_account, release_handle
from messaging.models import Account, Community
from messaging.posts.editing import describe_changes

DECISION_FIELDS = (
    *("status", "decided_by", "decided_at", "reason", "agent"),
    *("former_scopes", "former_community_ids"),
)
# (scopes, communities): no community means all of them.
Grant = tuple[Sequence[str], Sequence[UUID]]


def narrowed_scopes(requested: Sequence[str] | None, *, current: Sequence[str]) -> list[str]:
    """`requested` without duplicates, `current` for None; raises InvalidInput (400) unless it is a non-empty subset."""
    if requested is None:
        return list(current)
    if not requested or not set(requested) <= set(current):
        raise InvalidInput(
            f"Send as scopes one or more of: {', '.join(current)}.", field="scopes", allowed=list(current)
        )
    return list(dict.fromkeys(requested))


def narrowed_communities(requested: Sequence[UUID] | None, *, current: Sequence[UUID]) -> list[UUID]:
    """The same for communities, where an empty `current` means every community."""
    if requested is None:
        return list(current)
    if not current:
        return known_communities(requested)
    if not requested or not set(requested) <= set(current):
        allowed = sorted(map(str, current))
        raise InvalidInput("Send as communityIds one or more of `allowed`.", field="communityIds", allowed=allowed)
    return list(dict.fromkeys(requested))


def narrowed_to(request: AgentRequest) -> Grant | None:
    """What the agent of an approved request may do, if that is less than was asked for; the request has its agent."""
    agent = request.subject
    if agent is None or request.status != RequestStatus.APPROVED:
        return None
    scopes, community_ids = asked_grant(request)
    # An agent that was widened by a later request may do more.
    has_communities = not agent.community_ids or (community_ids and set(community_ids) <= set(agent.community_ids))
    if set(scopes) <= set(agent.scopes) and has_communities:
        return None
    return agent.scopes, agent.community_ids


def former_grant(request: AgentRequest) -> Grant:
    """The grant that a widening adds to: before its approval, else what the agent may do now."""
    if request.former_scopes is not None and request.former_community_ids is not None:
        return request.former_scopes, request.former_community_ids
    agent = request.widens
    return (agent.scopes, agent.community_ids) if agent else ([], [])


def asked_grant(request: AgentRequest) -> Grant:
    """The whole grant that the agent has if the request is approved as it is."""
    if request.widens_id is None:
        return request.scopes, request.community_ids
    return _sum(
        former_grant(request),
        scopes=request.scopes,
        community_ids=request.community_ids,
        every_community=request.every_community,
    )


def _sum(grant: Grant, *, scopes: Collection[str], community_ids: Sequence[UUID], every_community: bool) -> Grant:
    held, communities = grant
    more = [scope for scope in Scope.values if scope in held or scope in scopes]
    if every_community or not communities:
        return more, []
    return more, list(dict.fromkeys([*communities, *community_ids]))


def community_names(ids: Collection[UUID]) -> dict[UUID, str]:
    """Returns the names by id, in the order of the names."""
    return dict(Community.objects.filter(pk__in=ids).order_by("name", "pk").values_list("pk", "name"))


def grant_changes(before: Grant, after: Grant, names: Mapping[UUID, str] | None = None) -> str:
    """`scopes (−react), communities (all → Harbour)`, for the history; empty if the grants are equal.

    `names`: of the communities, where they are known already.
    """
    communities = _changed_communities(before[1], after[1], names)
    scopes = describe_changes({"scopes": before[0]}, {"scopes": after[0]}) if set(before[0]) != set(after[0]) else ""
    return ", ".join(filter(None, [scopes, communities]))


def _changed_communities(before: Sequence[UUID], after: Sequence[UUID], known_names: Mapping[UUID, str] | None) -> str:
    if set(before) == set(after):
        return ""
    names = community_names({*before, *after}) if known_names is None else known_names
    was, now = ([names.get(pk, str(pk)) for pk in ids] for ids in (before, after))
    if not now:
        return f"communities ({', '.join(was)} → all)"
    return describe_changes({"communities": was or "all"}, {"communities": now})


def known_communities(ids: Sequence[UUID]) -> list[UUID]:
    """`ids` without duplicates; raises InvalidInput (400) for an id that is not a community's, and for too many."""
    if len(set(ids)) > COMMUNITIES_MAX:
        raise InvalidInput(f"Send at most {COMMUNITIES_MAX} communities, or none for all.", field="communityIds")
    unknown = set(ids) - set(Community.objects.filter(pk__in=ids).values_list("pk", flat=True))
    if unknown:
        listed = ", ".join(sorted(map(str, unknown)))
        raise InvalidInput(f"Send ids of existing communities; unknown: {listed}", field="communityIds")
    return list(dict.fromkeys(ids))


@retried
@transaction.atomic
def request_agent(
    *,
    requester: Account,
    agent_name: str,
    agent_handle: str,
    purpose: str,
    scopes: Sequence[str],
    website: str | None = None,
    community_ids: Sequence[UUID] = (),
) -> AgentRequest:
    """Create a pending request, which reserves its handle.

    Raises InvalidInput (400) for an unknown community, TooManyPendingRequests (429), HandleTaken (409).
    """
    communities = known_communities(community_ids)
    _require_below_limit(requester)
    claim_handle(handle=agent_handle, field="agentHandle")
    request = AgentRequest.objects.create(
        requester=requester,
        agent_name=agent_name,
        agent_handle=agent_handle,
        purpose=purpose,
        website=website or "",
        scopes=list(dict.fromkeys(scopes)),
        community_ids=communities,
    )
    record_requested(request)
    return request


@retried
@transaction.atomic
def request_widening(
    *,
    requester: Account,
    agent_id: UUID,
    purpose: str,
    scopes: Sequence[str],
    community_ids: Sequence[UUID] | None = None,
) -> AgentRequest:
    """Create a pending request to add to the grant of the requester's own agent.

    `community_ids`: None asks for no more communities, an empty list for every community. Raises AgentNotFound (404);
    InvalidInput (400) for an unknown community, too many, or if the agent may do all of it already;
    TooManyPendingRequests (429); WideningPending (409).
    """
    communities = known_communities(community_ids or ())
    _require_below_limit(requester)
    # The lock orders this and a deletion, which cancels the open requests of its agent.
    list(Agent.objects.operated_by(requester).filter(pk=agent_id).locked())
    agent = Agent.objects.live().operated_by(requester).select_related("account").filter(pk=agent_id).first()
    if agent is None:
        raise AgentNotFound
    if agent.widenings.filter(status=RequestStatus.PENDING).exists():
        raise WideningPending
    request = AgentRequest(
        requester=requester,
        widens=agent,
        agent_name=agent.account.name,
        agent_handle=agent.account.handle,
        purpose=purpose,
        scopes=list(dict.fromkeys(scopes)),
        community_ids=communities,
        every_community=community_ids is not None and not communities,
    )
    _require_more(asked_grant(request), agent=agent)
    request.save(force_insert=True)
    record_requested(request)
    return request


def _require_more(grant: Grant, *, agent: Agent) -> None:
    scopes, communities = grant
    if len(communities) > COMMUNITIES_MAX:
        message = f"Name fewer communities: with those it has, the agent may have at most {COMMUNITIES_MAX}, or all."
        raise InvalidInput(message, field="communityIds")
    if (set(scopes), set(communities)) == (set(agent.scopes), set(agent.community_ids)):
        raise InvalidInput("Name a scope or a community that the agent does not have.", field="scopes")


@retried
@transaction.atomic
def approve_request(
    *,
    request_id: UUID,
    by: Account,
    scopes: Sequence[str] | None = None,
    community_ids: Sequence[UUID] | None = None,
    reason: str = "",
) -> AgentRequest:
    """Create the agent, operated by the requester, with the requested scopes and communities or a subset of them.

    A request that widens an agent adds them to its grant, and so to all its tokens. Raises RequestNotFound (404),
    RequestNotPending (409), InvalidInput (400).
    """
    request = _lock_pending(request_id)
    if request.widens_id is not None:
        asked = asked_grant(request)
        granted_now = _widen(request, scopes=scopes, community_ids=community_ids, by=by, reason=reason)
        return _decide(
            request, RequestStatus.APPROVED, by=by, reason=reason, narrowed=grant_changes(asked, granted_now)
        )
    granted = narrowed_scopes(scopes, current=request.scopes)
    communities = narrowed_communities(community_ids, current=request.community_ids)
    request.agent = Agent.objects.create(
        account=create_agent_account(handle=request.agent_handle, name=request.agent_name),
        operator=request.requester,
        scopes=granted,
        community_ids=communities,
    )
    narrowed = grant_changes((request.scopes, request.community_ids), (granted, communities))
    return _decide(request, RequestStatus.APPROVED, by=by, reason=reason, narrowed=narrowed)


def _widen(
    request: AgentRequest,
    *,
    scopes: Sequence[str] | None,
    community_ids: Sequence[UUID] | None,
    by: Account,
    reason: str,
) -> Grant:
    """Add what was requested or a subset of it to the grant of the (then locked) agent; returns the new grant."""
    agent = Agent.objects.locked().select_related("account").get(pk=request.widens_id)
    request.widens = agent
    # An empty list grants nothing, or every community where that was asked for.
    more = [] if scopes is not None and not scopes else narrowed_scopes(scopes, current=request.scopes)
    communities = [] if community_ids is not None and not community_ids else _more_communities(request, community_ids)
    every_community = request.every_community and not communities
    before = agent.scopes, agent.community_ids
    granted = _sum(before, scopes=more, community_ids=communities, every_community=every_community)
    _require_more(granted, agent=agent)
    request.former_scopes, request.former_community_ids = agent.scopes, agent.community_ids
    agent.scopes, agent.community_ids = list(granted[0]), list(granted[1])
    agent.save(update_fields=["scopes", "community_ids"])
    log_decision(by=by, about=agent, verb=f"Widened {grant_changes(before, granted)}", reason=reason)
    invalidate(agent_tag(agent.account.handle))
    return granted


def _more_communities(request: AgentRequest, chosen: Sequence[UUID] | None) -> list[UUID]:
    if chosen and not request.community_ids and not request.every_community:
        raise InvalidInput("Send no communityIds: the request asks for none.", field="communityIds", allowed=[])
    return narrowed_communities(chosen, current=request.community_ids)


@retried
@transaction.atomic
def reject_request(*, request_id: UUID, by: Account, reason: str = "") -> AgentRequest:
    """Reject the request and release its handle. Raises RequestNotFound (404), RequestNotPending (409)."""
    request = _lock_pending(request_id)
    _release_handle(request)
    return _decide(request, RequestStatus.REJECTED, by=by, reason=reason)


@retried
@transaction.atomic
def cancel_request(*, request_id: UUID, by: Account) -> AgentRequest:
    """Cancel the requester's own request and release its handle; raises RequestNotFound (404) for any other account."""
    if not AgentRequest.objects.asked_by(by).filter(pk=request_id).exists():
        raise RequestNotFound
    request = _lock_pending(request_id)
    _release_handle(request)
    return _decide(request, RequestStatus.CANCELLED, by=by, reason="")


def _release_handle(request: AgentRequest) -> None:
    if request.widens_id is None:
        release_handle(handle=request.agent_handle)


def readable_request(*, request_id: UUID, auth: Credential) -> AgentRequest:
    """A request of the caller, any request for super admins; raises RequestNotFound (404)."""
    requests = AgentRequest.objects.with_accounts()
    if not auth.is_super_admin:
        requests = requests.asked_by(auth.user)
    request = requests.filter(pk=request_id).first()
    if request is None:
        raise RequestNotFound
    return request


def _require_below_limit(requester: Account) -> None:
    # Lock, then count in a second statement: a single one would count the rows of its snapshot before the lock.
    Account.objects.select_for_update(no_key=True).get(pk=requester.pk)
    if AgentRequest.objects.asked_by(requester).pending().count() >= PENDING_MAX:
        raise TooManyPendingRequests(max=PENDING_MAX)


def _lock_pending(request_id: UUID) -> AgentRequest:
    request = AgentRequest.objects.with_accounts().select_for_update(of=("self",)).filter(pk=request_id).first()
    if request is None:
        raise RequestNotFound
    if request.status != RequestStatus.PENDING:
        raise RequestNotPending(status=request.status)
    return request


def _decide(
    request: AgentRequest, status: RequestStatus, *, by: Account, reason: str, narrowed: str = ""
) -> AgentRequest:
    verb = transition(str(status.label), request.status, status) + (f", narrowed {narrowed}" if narrowed else "")
    # By the database's clock, as is the time in which the decision can be undone.
    request.status, request.decided_by, request.decided_at, request.reason = status, by, database_now(), reason
    request.save(update_fields=DECISION_FIELDS)
    log_decision(by=by, about=request, verb=verb, reason=reason)
    record_decided(request, by=by)
    return request
