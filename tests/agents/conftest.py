"""Rows of others, which a test of a decision, a revocation or a deletion must leave alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def bystander(db: None) -> Iterator[None]:
    """An agent with a token, and a pending request of its operator, which are the same after the test."""
    from tests.agents.factories import RequestFactory, agent_with_token  # Here: this file is read before the settings.

    holder = agent_with_token()
    pending = RequestFactory(requester=holder.request.requester)
    before = _rows(holder, pending)
    yield
    assert _rows(holder, pending) == before


def _rows(holder: Any, pending: Any) -> list[list[dict[str, Any]]]:
    from agents.models import Agent, AgentRequest, AgentToken
    from messaging.models import Account, HandleClaim

    handles = [holder.request.agent_handle, pending.agent_handle]
    chosen = (
        AgentRequest.objects.filter(pk__in=[holder.request.pk, pending.pk]),
        Agent.objects.filter(pk=holder.agent.pk),
        AgentToken.objects.filter(agent=holder.agent),
        Account.objects.filter(pk__in=[holder.account.pk, holder.request.requester_id]),
        HandleClaim.objects.filter(handle__in=handles),
    )
    rows: list[Any] = [list(queryset.order_by("pk").values()) for queryset in chosen]
    assert [len(each) for each in rows] == [2, 1, 1, 2, 2]
    return rows
