"""Freezes, unfreezes and narrows agents. The caller checks that `by` is a super admin.

Deletes an agent for its operator.

Undoes decisions on agent requests. The caller checks that `by` is a super admin.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import ProtectedError

from agents.cache_tags import agent_tag
from agents.changes import record_decided, record_frozen, record_narrowed
from agents.exceptions import (
    AgentNotFound,
    ApprovalInUse,
    DecisionNotUndoable,
    RequestNotFound,
    UndoTooLate,
    WideningPending,
)
from agents.models import Agent, AgentRequest, AgentToken, RequestStatus
from agents.services.requests import (
    DECISION_FIELDS,
    cancel_request,
    former_grant,
    grant_changes,
    narrowed_communities,
    narrowed_scopes,
)
from agents.services.tokens import end_tokens
from kernel.admin.audit import log_decision, transition
from kernel.cache.versions import invalidate
from kernel.database.sql import database_now
from kernel.writes.transaction import retried
from messaging.accounts.services import claim_handle
from messaging.models import Account, WebhookTarget
from messaging.webhooks.services import delete_webhooks_of


@retried
@transaction.atomic
def freeze_agent(*, agent: Agent, by: Account, reason: str = "") -> Agent:
    """Disable every token of the agent at once. An agent that is frozen already does not change."""
    locked = _locked(agent)
    if locked.frozen_at is None:
        locked.frozen_at, locked.frozen_by, locked.freeze_reason = database_now(), by, reason
        _save(locked, by=by, verb=transition("Frozen", "active", "frozen"), reason=reason)
        record_frozen(locked, by=by)
    return locked


@retried
@transaction.atomic
def unfreeze_agent(*, agent: Agent, by: Account, reason: str = "") -> Agent:
    """Enable the agent's tokens again, except those that are revoked or expired."""
    locked = _locked(agent)
    if locked.frozen_at is not None:
        locked.frozen_at, locked.frozen_by, locked.freeze_reason = None, None, ""
        _save(locked, by=by, verb=transition("Unfrozen", "frozen", "active"), reason=reason)
    return locked


@retried
@transaction.atomic
def narrow_agent(
    *,
    agent: Agent,
    by: Account,
    scopes: Sequence[str] | None = None,
    community_ids: Sequence[UUID] | None = None,
    reason: str = "",
) -> Agent:
    """Restrict the agent, and so all its tokens, to the given scopes and communities; None does not change them.

    Raises InvalidInput (400) for a scope or community that the agent does not have.
    """
    locked = _locked(agent)
    before = locked.scopes, locked.community_ids
    locked.scopes = narrowed_scopes(scopes, current=locked.scopes)
    locked.community_ids = narrowed_communities(community_ids, current=locked.community_ids)
    if (locked.scopes, locked.community_ids) != before:
        verb = f"Narrowed {grant_changes(before, (locked.scopes, locked.community_ids))}"
        _save(locked, by=by, verb=verb, reason=reason)
        record_narrowed(locked, by=by)
    return locked


def _locked(agent: Agent) -> Agent:
    return Agent.objects.locked().select_related("account").get(pk=agent.pk)


def _save(agent: Agent, *, by: Account, verb: str, reason: str) -> None:
    agent.save(update_fields=["scopes", "community_ids", "frozen_at", "frozen_by", "freeze_reason"])
    log_decision(by=by, about=agent, verb=verb, reason=reason)
    invalidate(agent_tag(agent.account.handle))


REASON = "The agent was deleted."


@retried
@transaction.atomic
def delete_agent(*, handle: str, by: Account) -> Agent:
    """End the agent's tokens at once, delete its webhooks, and stop the agent for good.

    Its posts and its account stay, so that nobody gets its handle; the account is inactive. Raises AgentNotFound (404)
    unless `by` operates the agent, and if it is deleted already.
    """
    agent = _lock_own(handle, by)
    for widening in agent.widenings.filter(status=RequestStatus.PENDING):
        cancel_request(request_id=widening.pk, by=by)
    end_tokens(list(AgentToken.objects.filter(agent=agent).active().locked().order_by("id")), by=by, reason=REASON)
    delete_webhooks_of(target_kind=WebhookTarget.AGENT, target_id=agent.pk)
    agent.account.is_active = False
    agent.account.save(update_fields=["is_active"])
    log_decision(by=by, about=agent, verb="Deleted")
    invalidate(agent_tag(handle))
    return agent


def _lock_own(handle: str, operator: Account) -> Agent:
    """The agent first, as in `create_token`: no token is created beside a deletion."""
    own = Agent.objects.operated_by(operator).filter(account__handle=handle)
    # Lock, then read in a second statement: the first would see the account of before the wait for the lock.
    list(own.locked())
    agent = own.live().select_related("account").first()
    if agent is None:
        raise AgentNotFound
    return agent


UNDO_SECONDS = 30
VERBS = {RequestStatus.APPROVED: "Approval undone", RequestStatus.REJECTED: "Reopened"}


@retried
@transaction.atomic
def undo_decision(*, request_id: UUID, by: Account, reason: str = "") -> AgentRequest:
    """Make a decided request pending again.

    An approval: within UNDO_SECONDS, and until a token of the agent is created; the agent and its account are deleted,
    the handle stays reserved. That of a widening: within UNDO_SECONDS; the agent loses what was added. A rejection: at
    any time, if its handle is free. Undone by two at once, the second gets DecisionNotUndoable. Raises RequestNotFound
    (404); DecisionNotUndoable, UndoTooLate, ApprovalInUse, HandleTaken or WideningPending (409).
    """
    request = AgentRequest.objects.with_accounts().select_for_update(of=("self",)).filter(pk=request_id).first()
    if request is None:
        raise RequestNotFound
    former = RequestStatus(request.status)
    if former not in VERBS:
        raise DecisionNotUndoable(status=former)
    agent = request.agent
    if request.widens_id is not None:
        _undo_widening(request, former, by=by, reason=reason)
    elif agent is None:
        claim_handle(handle=request.agent_handle, field="agentHandle")
    else:
        _require_undoable(request, agent)
    _set_pending(request)
    if agent is not None:
        _delete(agent)
    log_decision(by=by, about=request, verb=transition(VERBS[former], former, RequestStatus.PENDING), reason=reason)
    record_decided(request, by=by)
    return request


def _require_undoable(request: AgentRequest, agent: Agent) -> None:
    if request.decided_at is None:
        raise DecisionNotUndoable(status=request.status)
    # The lock orders this and `create_token`. The check is a second statement, which sees a token that was
    # created while this one waited.
    Agent.objects.select_for_update(of=("self",)).get(pk=agent.pk)
    if AgentToken.objects.filter(agent=agent).exists():
        raise ApprovalInUse
    if database_now() > request.decided_at + timedelta(seconds=UNDO_SECONDS):
        raise UndoTooLate(limit=UNDO_SECONDS)


def _undo_widening(request: AgentRequest, former: RequestStatus, *, by: Account, reason: str) -> None:
    """Raises WideningPending (409) if another request to widen the agent is open."""
    agent = Agent.objects.locked().select_related("account").get(pk=request.widens_id)
    request.widens = agent
    if agent.is_deleted:
        raise DecisionNotUndoable(status=former)
    if agent.widenings.filter(status=RequestStatus.PENDING).exists():
        raise WideningPending
    if former == RequestStatus.REJECTED:
        return
    if request.decided_at is None or database_now() > request.decided_at + timedelta(seconds=UNDO_SECONDS):
        raise UndoTooLate(limit=UNDO_SECONDS)
    before, (scopes, community_ids) = (agent.scopes, agent.community_ids), former_grant(request)
    # The agent may have been narrowed since.
    agent.scopes = [scope for scope in agent.scopes if scope in scopes]
    if not agent.community_ids:
        agent.community_ids = list(community_ids)
    elif community_ids:
        agent.community_ids = [pk for pk in agent.community_ids if pk in community_ids]
    if not agent.scopes or (community_ids and not agent.community_ids):
        raise ApprovalInUse
    verb = f"Narrowed {grant_changes(before, (agent.scopes, agent.community_ids))}"
    _save(agent, by=by, verb=verb, reason=reason)
    record_narrowed(agent, by=by)


def _set_pending(request: AgentRequest) -> None:
    request.status, request.decided_by, request.decided_at = RequestStatus.PENDING, None, None
    request.reason, request.agent, request.former_scopes, request.former_community_ids = "", None, None, None
    request.save(update_fields=DECISION_FIELDS)


def _delete(agent: Agent) -> None:
    """Raises ApprovalInUse (409) if a row that must stay refers to the agent."""
    delete_webhooks_of(target_kind=WebhookTarget.AGENT, target_id=agent.pk)
    account, handle = agent.account, agent.account.handle
    try:
        agent.delete()
        account.delete()
    except ProtectedError:
        raise ApprovalInUse from None
    invalidate(agent_tag(handle))
