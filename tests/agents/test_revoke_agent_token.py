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

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bystander")]


@pytest.fixture
def holder() -> TokenHolder:
    return agent_with_token()


def revoke(caller: Api, token_id: object, **body: object) -> Answer:
    return caller.post(f"/v1/agent-tokens/{token_id}/revoke", body)


def test_revoked_token_is_401_at_once(holder: TokenHolder) -> None:
    """Agent token: active → revoked; it is 401 for every request, reads included."""
    assert holder.api.get("/v1/agent/self").status == 200
    response = revoke(holder.operator, holder.token.pk)
    assert (response.status, response.json) == (200, {"revoked": True})
    for path in ("/v1/agent/self", "/v1/smart-tags"):
        refused = holder.api.get(path)
        assert (refused.status, refused.error) == (401, "token_revoked")
        assert refused.headers["WWW-Authenticate"].startswith('Bearer realm="community-messaging"')


def test_second_revocation_returns_the_time_of_the_first(holder: TokenHolder) -> None:
    """Agent token: revoked → revoked; time and reason do not change."""
    revoke(holder.operator, holder.token.pk, reason="First.")
    response = revoke(Api.as_person(SuperAdminFactory()), holder.token.pk, reason="Second.")
    row = AgentToken.objects.get(pk=holder.token.pk)
    assert response.json["revoked"] is False
    assert datetime.fromisoformat(response.json["alreadyRevokedAt"]) == row.revoked_at
    assert row.revoke_reason == "First."
    assert LogEntry.objects.filter(object_id=str(row.pk)).count() == 1


def test_super_admin_can_revoke_any_token(holder: TokenHolder) -> None:
    """Rule 7: the agent's operator or a super admin; the log entry has the account and the reason."""
    admin = SuperAdminFactory()
    assert revoke(Api.as_person(admin), holder.token.pk, reason="Spam.").json == {"revoked": True}
    entry = LogEntry.objects.get(object_id=str(holder.token.pk))
    assert (entry.user_id, entry.change_message) == (admin.pk, "Revoked (active → revoked): Spam.")


def test_other_accounts_cannot_revoke(holder: TokenHolder) -> None:
    """404 for other persons; 403 for agents, the token's own agent included."""
    other = agent_with_token()
    for caller in (Api.as_person(PersonFactory()), other.operator):
        response = revoke(caller, holder.token.pk)
        assert (response.status, response.error) == (404, "token_not_found")
    assert revoke(holder.api, holder.token.pk).error == "agent_route_not_allowed"
    assert revoke(Api(), holder.token.pk).error == "not_authenticated"
    assert holder.api.get("/v1/agent/self").status == 200


def test_an_id_that_is_none_or_unknown_is_refused(holder: TokenHolder) -> None:
    for token_id in ("nonsense", "1", "018f00000000700080000000000000ab", "{018f}"):
        response = revoke(holder.operator, token_id)
        assert (response.status, response.error) == (400, "invalid_input"), token_id
    assert revoke(holder.operator, "018f0000-0000-7000-8000-000000000000").error == "token_not_found"


def test_expired_token_can_be_revoked_without_a_body(holder: TokenHolder) -> None:
    AgentToken.objects.filter(pk=holder.token.pk).update(expires_at=timezone.now())
    assert holder.operator.post(f"/v1/agent-tokens/{holder.token.pk}/revoke").json == {"revoked": True}
    assert holder.api.get("/v1/agent/self").error == "token_revoked"


@pytest.mark.parametrize(("reason", "status"), [("x" * 500, 200), ("", 200), ("x" * 501, 400), (7, 400)])
def test_reason_has_at_most_500_characters(holder: TokenHolder, reason: object, status: int) -> None:
    assert revoke(holder.operator, holder.token.pk, reason=reason).status == status


@pytest.mark.django_db(transaction=True)
def test_concurrent_calls_revoke_once() -> None:
    holder = agent_with_token()
    results = race(10, lambda _n: revoke(holder.operator, holder.token.pk).json["revoked"])
    assert sorted(results) == [False] * 9 + [True]
