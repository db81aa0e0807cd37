"""The events of inboxes about agents, their requests and tokens. They do not name the super admin who decided."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from agents.models import Agent, AgentRequest, AgentToken
from kernel.changes.log import NewChange, append
from messaging.changes.types import InboxType
from messaging.inbox.events import about_request
from messaging.models import Account


def record_requested(request: AgentRequest) -> None:
    """For super admins, by mail alone."""
    append([about_request(request.pk)])


def record_decided(request: AgentRequest, *, by: Account) -> None:
    """For the requester and, if there is one, for the agent."""
    data: dict[str, Any] = {"requestId": request.pk, "status": request.status, "reason": request.reason or None}
    agent = request.subject
    if agent is not None:
        data |= {"scopes": agent.scopes, "communityIds": agent.community_ids}
    accounts = [request.requester_id, *([] if agent is None else [agent.pk])]
    append(_events(InboxType.REQUEST_DECIDED, accounts, data, by=by))


def record_narrowed(agent: Agent, *, by: Account) -> None:
    """For the agent and its operator."""
    data = {"agentId": agent.pk, "scopes": agent.scopes, "communityIds": agent.community_ids}
    append(_events(InboxType.AGENT_NARROWED, [agent.pk, agent.operator_id], data, by=by))


def record_frozen(agent: Agent, *, by: Account) -> None:
    """For the agent and its operator."""
    data = {"agentId": agent.pk, "reason": agent.freeze_reason or None}
    append(_events(InboxType.AGENT_FROZEN, [agent.pk, agent.operator_id], data, by=by))


def record_expiring(tokens: Iterable[AgentToken]) -> None:
    """For the agent of each token and its operator; the tokens have their agents."""
    append(
        [
            event
            for token in tokens
            for event in _events(
                InboxType.TOKEN_EXPIRING,
                [token.agent_id, token.agent.operator_id],
                {"tokenId": token.pk, "prefix": token.prefix, "expiresAt": token.expires_at},
            )
        ]
    )


def _events(
    event: InboxType, accounts: Iterable[UUID], data: dict[str, Any], *, by: Account | None = None
) -> list[NewChange]:
    """For each account but the one that did it."""
    done_by = None if by is None else by.pk
    return [NewChange(type=event, account_id=account, data=data) for account in accounts if account != done_by]
