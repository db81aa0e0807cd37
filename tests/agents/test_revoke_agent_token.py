"""revokeAgentToken: POST /v1/agent-tokens/{id}/revoke."""

from __future__ import annotations

from datetime import datetime

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from agents.models import AgentToken
from tests.agents.factories import TokenHolder, agent_with_token
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def held() -> TokenHolder:
    return agent_with_token()


def revoke(caller: Api, token_id: object, **body: object) -> Answer:
    return caller.post(f"/v1/agent-tokens/{token_id}/revoke", body)


def test_revokes_at_once(held: TokenHolder) -> None:
    """Agent token: active → revoked; it is rejected with 401 from then on, reads included."""
    assert held.api.get("/v1/agent/self").status == 200
    answer = revoke(held.operator, held.token.pk)
    assert (answer.status, answer.json) == (200, {"revoked": True})
    for path in ("/v1/agent/self", "/v1/smart-tags"):
        refused = held.api.get(path)
        assert (refused.status, refused.error) == (401, "token_revoked")
        assert refused.headers["WWW-Authenticate"] == "Bearer"


def test_revoking_again_tells_since_when(held: TokenHolder) -> None:
    """Agent token: revoked → revoked; the first time and reason stay."""
    revoke(held.operator, held.token.pk, reason="First.")
    answer = revoke(Api.as_person(SuperAdminFactory()), held.token.pk, reason="Second.")
    row = AgentToken.objects.get()
    assert answer.json["revoked"] is False
    assert datetime.fromisoformat(answer.json["alreadyRevokedAt"]) == row.revoked_at
    assert row.revoke_reason == "First."
    assert LogEntry.objects.filter(object_id=str(row.pk)).count() == 1


def test_a_super_admin_may(held: TokenHolder) -> None:
    """Rule 7: the agent's operator or a super admin; history tells who and why."""
    admin = SuperAdminFactory()
    assert revoke(Api.as_person(admin), held.token.pk, reason="Spam.").json == {"revoked": True}
    entry = LogEntry.objects.get(object_id=str(held.token.pk))
    assert (entry.user_id, entry.change_message) == (admin.pk, "Revoked: Spam.")


def test_nobody_else_may(held: TokenHolder) -> None:
    """404 no such token the caller may revoke; 403 for agents, its own bearer included."""
    other = agent_with_token()
    for caller in (Api.as_person(PersonFactory()), other.operator):
        answer = revoke(caller, held.token.pk)
        assert (answer.status, answer.error) == (404, "token_not_found")
    assert revoke(held.api, held.token.pk).error == "agent_route_not_allowed"
    assert revoke(Api(), held.token.pk).error == "not_authenticated"
    assert held.api.get("/v1/agent/self").status == 200


def test_an_expired_token_can_be_revoked(held: TokenHolder) -> None:
    AgentToken.objects.update(expires_at=timezone.now())
    assert revoke(held.operator, held.token.pk).json == {"revoked": True}
    assert held.api.get("/v1/agent/self").error == "token_revoked"


@pytest.mark.parametrize("token_id", ["nonsense", "1", "018f00000000700080000000000000ab", "{018f}"])
def test_bad_id(held: TokenHolder, token_id: str) -> None:
    """400 bad id."""
    answer = revoke(held.operator, token_id)
    assert (answer.status, answer.error) == (400, "invalid_input")


def test_unknown_id(held: TokenHolder) -> None:
    assert revoke(held.operator, "018f0000-0000-7000-8000-000000000000").error == "token_not_found"


@pytest.mark.parametrize(("reason", "status"), [("x" * 500, 200), ("", 200), ("x" * 501, 400), (7, 400)])
def test_reason(held: TokenHolder, reason: object, status: int) -> None:
    """Limits: revoke reason 500 characters."""
    assert revoke(held.operator, held.token.pk, reason=reason).status == status


def test_body_may_be_absent(held: TokenHolder) -> None:
    assert held.operator.post(f"/v1/agent-tokens/{held.token.pk}/revoke").json == {"revoked": True}


@pytest.mark.django_db(transaction=True)
def test_ten_at_once_revoke_once() -> None:
    held = agent_with_token()
    answers = race(10, lambda _n: revoke(held.operator, held.token.pk).json["revoked"])
    assert sorted(answers) == [False] * 9 + [True]
