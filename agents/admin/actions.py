"""The admin actions on agent requests, agents and agent tokens."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from agents.admin.grant import GrantForm
from agents.models import AgentRequest, RequestStatus, TokenStatus
from agents.services import (
    UNDO_SECONDS,
    approve_request,
    freeze_agent,
    narrow_agent,
    reject_request,
    revoke_agent_tokens,
    revoke_token,
    undo_decision,
    unfreeze_agent,
)
from kernel.admin.actions import AdminAction


def _is_pending(request: AgentRequest) -> bool:
    return request.status == RequestStatus.PENDING


def _may_be_undoable(request: AgentRequest) -> bool:
    """By the clock of this host: the service decides, and whether the agent has a token."""
    if request.status == RequestStatus.APPROVED and request.decided_at is not None:
        return timezone.now() - request.decided_at < timedelta(seconds=UNDO_SECONDS)
    return request.status == RequestStatus.REJECTED


APPROVE = AdminAction(
    name="approve",
    label="Approve",
    confirmation="Creates the agent; the requester can create its tokens. Untick permissions and communities to deny.",
    success_message="approved",
    run=lambda row, **arguments: approve_request(request_id=row.pk, **arguments),
    is_available=_is_pending,
    form=GrantForm,
    bulk=False,
    key="a",
    undo="undo",
)
REJECT = AdminAction(
    name="reject",
    label="Reject",
    confirmation="The requester can read the reason. The handle becomes available again.",
    success_message="rejected",
    run=lambda row, **arguments: reject_request(request_id=row.pk, **arguments),
    is_available=_is_pending,
    needs_reason=True,
    key="r",
    undo="undo",
)
UNDO = AdminAction(
    name="undo",
    label="Undo the decision",
    confirmation=(
        f"The request is pending again. An approval can be undone for {UNDO_SECONDS} seconds, until a token is "
        "created; freeze the agent later. A rejection can be undone at any time, if its handle is still free."
    ),
    success_message="pending again",
    run=lambda row, **arguments: undo_decision(request_id=row.pk, **arguments),
    is_available=_may_be_undoable,
)
FREEZE = AdminAction(
    name="freeze",
    label="Freeze",
    confirmation="Disables all its tokens at once, until the agent is unfrozen.",
    success_message="frozen",
    run=lambda row, **arguments: freeze_agent(agent=row, **arguments),
    is_available=lambda row: row.frozen_at is None,
    needs_reason=True,
    inline=True,
)
UNFREEZE = AdminAction(
    name="unfreeze",
    label="Unfreeze",
    confirmation="Enables its tokens again, except those that are revoked or expired.",
    success_message="unfrozen",
    run=lambda row, **arguments: unfreeze_agent(agent=row, **arguments),
    is_available=lambda row: row.frozen_at is not None,
    inline=True,
)
NARROW = AdminAction(
    name="narrow",
    label="Narrow",
    confirmation="Untick permissions or communities to remove them from all its tokens at once. This cannot be undone.",
    success_message="narrowed",
    run=lambda row, **arguments: narrow_agent(agent=row, **arguments),
    form=GrantForm,
    needs_reason=True,
    bulk=False,
)
REVOKE_ALL = AdminAction(
    name="revoke",
    label="Revoke all tokens",
    confirmation="Revokes every active token for good. The operator can create new ones unless the agent is frozen.",
    success_message="all tokens revoked",
    run=lambda row, **arguments: revoke_agent_tokens(agent=row, **arguments),
    needs_reason=True,
)
REVOKE = AdminAction(
    name="revoke",
    label="Revoke",
    confirmation="Revokes the token at once and for good.",
    success_message="revoked",
    run=lambda row, **arguments: revoke_token(token_id=row.pk, **arguments),
    is_available=lambda row: row.status in {TokenStatus.ACTIVE, TokenStatus.SUSPENDED},
    needs_reason=True,
)
