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
from messaging.desk import Decision


def _is_pending(request: AgentRequest) -> bool:
    return request.status == RequestStatus.PENDING


APPROVE = Decision(
    name="approve",
    label="Approve",
    asks="The agent exists at once, and the requester can make tokens for it. Untick what it shall not have.",
    done="approved",
    run=lambda row, **given: approve_request(request_id=row.pk, **given),
    fits=_is_pending,
    form=GrantForm,
    bulk=False,
)
REJECT = Decision(
    name="reject",
    label="Reject",
    asks="The requester reads the reason. The handle is free again.",
    done="rejected",
    run=lambda row, **given: reject_request(request_id=row.pk, **given),
    fits=_is_pending,
    needs_reason=True,
)
FREEZE = Decision(
    name="freeze",
    label="Freeze",
    asks="All its tokens stop working at once. Unfreezing lets them work again.",
    done="frozen",
    run=lambda row, **given: freeze_agent(agent=row, **given),
    fits=lambda row: row.frozen_at is None,
    needs_reason=True,
    at_hand=True,
)
UNFREEZE = Decision(
    name="unfreeze",
    label="Unfreeze",
    asks="Its tokens that are neither revoked nor expired work again.",
    done="unfrozen",
    run=lambda row, **given: unfreeze_agent(agent=row, **given),
    fits=lambda row: row.frozen_at is not None,
    at_hand=True,
)
NARROW = Decision(
    name="narrow",
    label="Narrow",
    asks="Untick what the agent shall lose. It holds at once for all its tokens, and cannot be widened again.",
    done="narrowed",
    run=lambda row, **given: narrow_agent(agent=row, **given),
    form=GrantForm,
    needs_reason=True,
    bulk=False,
)
REVOKE_ALL = Decision(
    name="revoke",
    label="Revoke all tokens",
    asks="Every active token stops working at once and for good. The operator can make new ones, unless it is frozen.",
    done="all tokens revoked",
    run=lambda row, **given: revoke_agent_tokens(agent=row, **given),
    needs_reason=True,
)
REVOKE = Decision(
    name="revoke",
    label="Revoke",
    asks="The token stops working at once and for good.",
    done="revoked",
    run=lambda row, **given: revoke_token(token_id=row.pk, **given),
    fits=lambda row: row.status in {TokenStatus.ACTIVE, TokenStatus.SUSPENDED},
    needs_reason=True,
)
