"""What the database itself refuses, whoever writes to it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from agents.models import Agent, AgentRequest, AgentToken
from tests.agents.factories import ApprovedFactory, RequestFactory, agent_with_token

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        (AgentRequest, {"status": "open"}),
        (AgentRequest, {"status": "approved"}),
        (AgentRequest, {"status": "rejected", "decided_at": timezone.now()}),
        (AgentRequest, {"decided_at": timezone.now()}),
        (AgentRequest, {"scopes": []}),
        (AgentRequest, {"scopes": ["admin"]}),
    ],
)
def test_requests(model: Any, changes: dict[str, Any]) -> None:
    RequestFactory()
    refuse(model, changes)


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        (Agent, {"scopes": []}),
        (Agent, {"scopes": ["post", "admin"]}),
        (Agent, {"community_ids": ["018f0000-0000-7000-8000-000000000000"] * 21}),
        (Agent, {"freeze_reason": "but not frozen"}),
        (AgentToken, {"revoked_at": timezone.now()}),
        (AgentToken, {"revoke_reason": "but not revoked"}),
    ],
)
def test_agents_and_tokens(model: Any, changes: dict[str, Any]) -> None:
    agent_with_token()
    refuse(model, changes)


def refuse(model: Any, changes: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        model.objects.update(**changes)


def test_one_open_request_a_handle() -> None:
    approved = ApprovedFactory()
    asked = RequestFactory()
    with pytest.raises(IntegrityError), transaction.atomic():
        AgentRequest.objects.filter(pk=asked.pk).update(agent_handle=approved.agent_handle)
