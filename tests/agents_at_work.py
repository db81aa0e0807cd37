"""Approved agents with a token, made the way the service makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import UUID

from agents.models import Agent, AgentRequest
from agents.services import approve_request, create_token, request_agent
from messaging.models import Account
from tests.api import Api
from tests.factories import PersonFactory, SuperAdminFactory

EVERY_SCOPE = ("post", "reply", "quote", "react")
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class WorkingAgent:
    agent: Agent
    request: AgentRequest
    token: str

    @property
    def account(self) -> Account:
        return self.agent.account

    @property
    def api(self) -> Api:
        return Api.as_agent(self.token)


def working_agent(
    *, scopes: Sequence[str] = EVERY_SCOPE, community_ids: Sequence[UUID] = (), operator: Account | None = None
) -> WorkingAgent:
    """An agent that a super admin has approved, with its first token."""
    number = next(_numbers)
    operator = operator or PersonFactory()
    asked: Any = request_agent(
        requester=operator,
        agent_name=f"Working agent {number}",
        agent_handle=f"working_{number}",
        purpose="Takes part in a test of this service.",
        scopes=list(scopes),
        community_ids=list(community_ids),
    )
    approved = approve_request(request_id=asked.pk, by=SuperAdminFactory())
    _row, token = create_token(request_id=asked.pk, by=operator)
    agent = Agent.objects.select_related("account").get(pk=approved.agent_id)
    return WorkingAgent(agent=agent, request=approved, token=token)
