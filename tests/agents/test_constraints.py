"""The database constraints."""

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
def test_invalid_request_is_refused(model: Any, changes: dict[str, Any]) -> None:
    RequestFactory()
    assert_refused(model, changes)


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
def test_invalid_agent_or_token_is_refused(model: Any, changes: dict[str, Any]) -> None:
    agent_with_token()
    assert_refused(model, changes)


def assert_refused(model: Any, changes: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        model.objects.update(**changes)


def test_handle_has_one_pending_or_approved_request() -> None:
    approved = ApprovedFactory()
    agent_request = RequestFactory()
    with pytest.raises(IntegrityError), transaction.atomic():
        AgentRequest.objects.filter(pk=agent_request.pk).update(agent_handle=approved.agent_handle)
