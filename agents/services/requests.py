"""Creates and decides agent requests. The caller of approve_request and reject_request checks for a super admin.

Narrows the scopes and communities of a grant; nothing can be added to a grant.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db import transaction

from agents.changes import record_decided, record_requested
from agents.exceptions import RequestNotFound, RequestNotPending, TooManyPendingRequests
from agents.models import COMMUNITIES_MAX, PENDING_MAX, Agent, AgentRequest, RequestStatus
from kernel.admin.audit import log_decision, transition
from kernel.api.credentials import Credential
from kernel.api.exceptions import InvalidInput
from kernel.database.sql import database_now
from kernel.writes.transaction import retried
from messaging.accounts.services import claim_handle, create_agent_account, release_handle
from messaging.models import Account, Community
from messaging.posts.editing import describe_changes

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
    """What the agent of a request may do, if that is less than was asked for; the request has its agent."""
    agent = request.agent
    if agent is None or (set(agent.scopes), set(agent.community_ids)) == (
        set(request.scopes),
        set(request.community_ids),
    ):
        return None
    return agent.scopes, agent.community_ids


def community_names(ids: Collection[UUID]) -> dict[UUID, str]:
    """Returns the names by id, in the order of the names."""
    return dict(Community.objects.filter(pk__in=ids).order_by("name", "pk").values_list("pk", "name"))


def grant_changes(before: Grant, after: Grant) -> str:
    """`scopes (−react), communities (all → Harbour)`, for the history; empty if the grants are equal."""
    communities = _changed_communities(before[1], after[1])
    scopes = describe_changes({"scopes": before[0]}, {"scopes": after[0]}) if set(before[0]) != set(after[0]) else ""
    return ", ".join(filter(None, [scopes, communities]))


def _changed_communities(before: Sequence[UUID], after: Sequence[UUID]) -> str:
    if set(before) == set(after):
        return ""
    names = community_names({*before, *after})
    was, now = ([names.get(pk, str(pk)) for pk in ids] for ids in (before, after))
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
def approve_request(
    *,
    request_id: UUID,
    by: Account,
    scopes: Sequence[str] | None = None,
    community_ids: Sequence[UUID] | None = None,
    reason: str = "",
) -> AgentRequest:
    """Create the agent, operated by the requester, with the requested scopes and communities or a subset of them.

    Raises RequestNotFound (404), RequestNotPending (409), InvalidInput (400).
    """
    request = _lock_pending(request_id)
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


@retried
@transaction.atomic
def reject_request(*, request_id: UUID, by: Account, reason: str = "") -> AgentRequest:
    """Reject the request and release its handle. Raises RequestNotFound (404), RequestNotPending (409)."""
    request = _lock_pending(request_id)
    release_handle(handle=request.agent_handle)
    return _decide(request, RequestStatus.REJECTED, by=by, reason=reason)


@retried
@transaction.atomic
def cancel_request(*, request_id: UUID, by: Account) -> AgentRequest:
    """Cancel the requester's own request and release its handle; raises RequestNotFound (404) for any other account."""
    if not AgentRequest.objects.asked_by(by).filter(pk=request_id).exists():
        raise RequestNotFound
    request = _lock_pending(request_id)
    release_handle(handle=request.agent_handle)
    return _decide(request, RequestStatus.CANCELLED, by=by, reason="")


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
    request.save(update_fields=["status", "decided_by", "decided_at", "reason", "agent"])
    log_decision(by=by, about=request, verb=verb, reason=reason)
    record_decided(request, by=by)
    return request
