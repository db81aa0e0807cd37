"""Creates and decides agent requests. The caller of approve_request and reject_request checks for a super admin."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from agents.changes import record_decided, record_requested
from agents.exceptions import RequestNotFound, RequestNotPending, TooManyPendingRequests
from agents.models import Agent, AgentRequest, RequestStatus
from agents.models.request import PENDING_MAX
from agents.services.grants import grant_changes, known_communities, narrowed_communities, narrowed_scopes
from kernel.admin.audit import log_decision, transition
from kernel.api.credentials import Credential
from kernel.database.sql import database_now
from kernel.writes.retries import retried
from messaging.accounts.services import claim_handle, create_agent_account, release_handle
from messaging.models import Account


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
