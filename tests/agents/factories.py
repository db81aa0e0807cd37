"""Factories of agent requests, agents and tokens, which call the services."""

from __future__ import annotations

from datetime import timedelta
from secrets import token_bytes
from typing import Any, NamedTuple

import factory

from agents.models import Agent, AgentRequest, AgentToken, Scope
from agents.services import approve_request, create_token, request_agent
from agents.tokens import DIGEST_BYTES
from messaging.models import Account
from tests.api import Api
from tests.factories import PersonFactory, RowFactory, SuperAdminFactory


class RequestFactory(RowFactory[AgentRequest]):
    """Creates pending requests."""

    requester = factory.SubFactory(PersonFactory)
    agent_name = factory.Sequence(lambda n: f"Helper {n}")
    agent_handle = factory.Sequence(lambda n: f"helper_{n}")
    purpose = "Answers questions about the page in two sentences."
    scopes = Scope.values

    class Meta:
        model = AgentRequest

    @classmethod
    def _create(cls, model_class: Any, *args: Any, **kwargs: Any) -> AgentRequest:
        return request_agent(**kwargs)


class ApprovedFactory(RequestFactory):
    """Creates approved requests."""

    @classmethod
    def _create(cls, model_class: Any, *args: Any, **kwargs: Any) -> AgentRequest:
        pending = super()._create(model_class, *args, **kwargs)
        return approve_request(request_id=pending.pk, by=SuperAdminFactory())


class TokenHolder(NamedTuple):
    """An approved agent with one token."""

    request: AgentRequest
    agent: Agent
    token: AgentToken
    value: str

    @property
    def account(self) -> Account:
        return self.agent.account

    @property
    def api(self) -> Api:
        return Api.as_agent(self.value)

    @property
    def operator(self) -> Api:
        return Api.as_person(self.request.requester)


def agent_with_token(**fields: Any) -> TokenHolder:
    """`fields` of the request: `requester`, `scopes`, `community_ids`, …; by default every scope in every community."""
    request = ApprovedFactory(**fields)
    assert request.agent is not None
    token, value = create_token(request_id=request.pk, by=request.requester)
    return TokenHolder(request, request.agent, token, value)


def expired_tokens(holder: TokenHolder, *, number: int) -> list[AgentToken]:
    """Expired tokens of the agent; the list of its tokens sorts them as created after the holder's."""
    created_at = holder.token.created_at
    return AgentToken.objects.bulk_create(
        AgentToken(
            agent=holder.agent,
            digest=token_bytes(DIGEST_BYTES),
            prefix=holder.token.prefix,
            created_at=created_at + timedelta(microseconds=count),
            created_by=holder.request.requester,
            expires_at=created_at,
        )
        for count in range(1, number + 1)
    )
