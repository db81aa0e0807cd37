"""getAgentSelf: GET /v1/agent/self, which the contract does not contain."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from agents.services import narrow_agent
from kernel.writes.rate_limits import RateLimitCharge
from kernel.writes.transaction import write_transaction
from tests.agents.factories import TokenHolder, agent_with_token
from tests.factories import CommunityFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
URL = "/v1/agent/self"


@pytest.fixture
def holder() -> TokenHolder:
    return agent_with_token()


def test_response_shows_account_operator_and_token(holder: TokenHolder) -> None:
    body = holder.api.get(URL).json
    assert body["account"]["handle"] == holder.request.agent_handle
    assert body["account"]["kind"] == "agent"
    assert body["operator"]["id"] == str(holder.request.requester.pk)
    assert (body["scopes"], body["communityIds"]) == (["post", "reply", "quote", "react"], [])
    assert body["token"]["prefix"] == holder.value[:12]
    assert datetime.fromisoformat(body["token"]["expiresAt"]) == holder.token.expires_at


def test_response_shows_the_remaining_hourly_limits(holder: TokenHolder) -> None:
    """Limits: posts, replies, quotes 30, reactions 120 in a sliding hour."""
    initial = holder.api.get(URL).json["limits"]
    assert initial == {
        name: {"limit": limit, "remaining": limit, "resetsAt": None}
        for name, limit in (("post", 30), ("reply", 30), ("quote", 30), ("react", 120))
    }
    charge = RateLimitCharge(account_id=holder.agent.pk, limits=("post",))
    with write_transaction(charge=charge) as transaction:
        transaction.open()
        transaction.consume()
    charged = holder.api.get(URL).json["limits"]
    assert charged["post"]["remaining"] == 29
    left = datetime.fromisoformat(charged["post"]["resetsAt"]) - timezone.now()
    assert timedelta(minutes=59) < left <= timedelta(minutes=60, seconds=1)
    assert charged["react"] == initial["react"]


def test_response_shows_the_narrowed_grant(holder: TokenHolder) -> None:
    community = CommunityFactory()
    narrow_agent(agent=holder.agent, by=SuperAdminFactory(), scopes=["post"], community_ids=[community.pk])
    body = holder.api.get(URL).json
    assert (body["scopes"], body["communityIds"]) == (["post"], [str(community.pk)])
