"""getAgentSelf: GET /v1/agent/self, beyond the contract."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from agents.models import AgentToken
from agents.services import narrow_agent
from config.writes.rate_limits import RateLimitCharge
from config.writes.transaction import write_transaction
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
URL = "/v1/agent/self"


@pytest.fixture
def held() -> TokenHolder:
    return agent_with_token()


def test_tells_who_it_is(held: TokenHolder) -> None:
    answer = held.api.get(URL).json
    assert answer["account"]["handle"] == held.request.agent_handle
    assert answer["account"]["kind"] == "agent"
    assert answer["operator"]["id"] == str(held.request.requester.pk)
    assert (answer["scopes"], answer["communityIds"]) == (["post", "reply", "quote", "react"], [])
    assert answer["token"]["prefix"] == held.value[:12]
    assert datetime.fromisoformat(answer["token"]["expiresAt"]) == held.token.expires_at


def test_tells_what_is_left(held: TokenHolder) -> None:
    """Limits: posts, replies, quotes 30, reactions 120 in a sliding hour."""
    untouched = held.api.get(URL).json["limits"]
    assert untouched == {
        name: {"limit": limit, "remaining": limit, "resetsAt": None}
        for name, limit in (("post", 30), ("reply", 30), ("quote", 30), ("react", 120))
    }
    charge = RateLimitCharge(account_id=held.agent.pk, limits=("post",))
    with write_transaction(charge=charge) as transaction:
        transaction.open()
        transaction.consume()
    spent = held.api.get(URL).json["limits"]
    assert spent["post"]["remaining"] == 29
    left = datetime.fromisoformat(spent["post"]["resetsAt"]) - timezone.now()
    assert timedelta(minutes=59) < left <= timedelta(minutes=60, seconds=1)
    assert spent["react"] == untouched["react"]


def test_shows_what_holds_now(held: TokenHolder) -> None:
    community = CommunityFactory()
    narrow_agent(agent=held.agent, by=SuperAdminFactory(), scopes=["post"], community_ids=[community.pk])
    answer = held.api.get(URL).json
    assert (answer["scopes"], answer["communityIds"]) == (["post"], [str(community.pk)])


def test_is_for_agents_only(held: TokenHolder) -> None:
    assert Api().get(URL).error == "not_authenticated"
    assert held.operator.get(URL).error == "invalid_token"
    assert Api.as_signed_in(held.request.requester).get(URL).error == "invalid_token"
    assert AgentToken.objects.get().last_used_at is None
