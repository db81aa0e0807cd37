"""What a super admin can decide about requests, agents and tokens."""

from __future__ import annotations

from agents.admin.grant import GrantForm
from agents.models import AgentRequest, RequestStatus, TokenStatus
from agents.services import (
    approve_request,
    freeze_agent,
    narrow_agent,
    reject_request,
    revoke_agent_tokens,
    revoke_token,
    unfreeze_agent,
)
from config.admin.actions import AdminAction


def _is_pending(request: AgentRequest) -> bool:
    return request.status == RequestStatus.PENDING


APPROVE = AdminAction(
    name="approve",
    label="Approve",
    confirmation="The agent exists at once, and the requester can make tokens for it. Untick what it shall not have.",
    success_message="approved",
    run=lambda row, **arguments: approve_request(request_id=row.pk, **arguments),
    is_available=_is_pending,
    form=GrantForm,
    bulk=False,
)
REJECT = AdminAction(
    name="reject",
    label="Reject",
    confirmation="The requester reads the reason. The handle is free again.",
    success_message="rejected",
    run=lambda row, **arguments: reject_request(request_id=row.pk, **arguments),
    is_available=_is_pending,
    needs_reason=True,
)
FREEZE = AdminAction(
    name="freeze",
    label="Freeze",
    confirmation="All its tokens stop working at once. Unfreezing lets them work again.",
    success_message="frozen",
    run=lambda row, **arguments: freeze_agent(agent=row, **arguments),
    is_available=lambda row: row.frozen_at is None,
    needs_reason=True,
    inline=True,
)
UNFREEZE = AdminAction(
    name="unfreeze",
    label="Unfreeze",
    confirmation="Its tokens that are neither revoked nor expired work again.",
    success_message="unfrozen",
    run=lambda row, **arguments: unfreeze_agent(agent=row, **arguments),
    is_available=lambda row: row.frozen_at is not None,
    inline=True,
)
NARROW = AdminAction(
    name="narrow",
    label="Narrow",
    confirmation="Untick what the agent shall lose. It holds at once for all its tokens, and cannot be widened again.",
    success_message="narrowed",
    run=lambda row, **arguments: narrow_agent(agent=row, **arguments),
    form=GrantForm,
    needs_reason=True,
    bulk=False,
)
REVOKE_ALL = AdminAction(
    name="revoke",
    label="Revoke all tokens",
    confirmation=(
        "Every active token stops working at once and for good. The operator can make new ones, unless it is frozen."
    ),
    success_message="all tokens revoked",
    run=lambda row, **arguments: revoke_agent_tokens(agent=row, **arguments),
    needs_reason=True,
)
REVOKE = AdminAction(
    name="revoke",
    label="Revoke",
    confirmation="The token stops working at once and for good.",
    success_message="revoked",
    run=lambda row, **arguments: revoke_token(token_id=row.pk, **arguments),
    is_available=lambda row: row.status in {TokenStatus.ACTIVE, TokenStatus.SUSPENDED},
    needs_reason=True,
)
