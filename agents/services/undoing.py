"""Undoes decisions on agent requests. The caller checks that `by` is a super admin."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import ProtectedError

from agents.cache_tags import agent_tag
from agents.changes import record_decided
from agents.exceptions import ApprovalInUse, DecisionNotUndoable, RequestNotFound, UndoTooLate
from agents.models import Agent, AgentRequest, AgentToken, RequestStatus
from kernel.admin.audit import log_decision, transition
from kernel.cache.versions import invalidate
from kernel.database.sql import database_now
from kernel.writes.retries import retried
from messaging.accounts.services import claim_handle
from messaging.models import Account, WebhookTarget
from messaging.webhooks.services import delete_webhooks_of

UNDO_SECONDS = 30
VERBS = {RequestStatus.APPROVED: "Approval undone", RequestStatus.REJECTED: "Reopened"}


@retried
@transaction.atomic
def undo_decision(*, request_id: UUID, by: Account, reason: str = "") -> AgentRequest:
    """Make a decided request pending again.

    An approval: within UNDO_SECONDS, and until a token of the agent is created; the agent and its account are deleted,
    the handle stays reserved. A rejection: at any time, if its handle is free. Undone by two at once, the second gets
    DecisionNotUndoable. Raises RequestNotFound (404); DecisionNotUndoable, UndoTooLate, ApprovalInUse or HandleTaken
    (409).
    """
    request = AgentRequest.objects.with_accounts().select_for_update(of=("self",)).filter(pk=request_id).first()
    if request is None:
        raise RequestNotFound
    former = RequestStatus(request.status)
    if former not in VERBS:
        raise DecisionNotUndoable(status=former)
    agent = request.agent
    if agent is None:
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
    # As in `create_token`: the lock orders the two. The check is a second statement, which sees a token that was
    # created while this one waited.
    Agent.objects.select_for_update(of=("self",)).get(pk=agent.pk)
    if AgentToken.objects.filter(agent=agent).exists():
        raise ApprovalInUse
    if database_now() > request.decided_at + timedelta(seconds=UNDO_SECONDS):
        raise UndoTooLate(limit=UNDO_SECONDS)


def _set_pending(request: AgentRequest) -> None:
    request.status, request.decided_by, request.decided_at = RequestStatus.PENDING, None, None
    request.reason, request.agent = "", None
    request.save(update_fields=["status", "decided_by", "decided_at", "reason", "agent"])


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
