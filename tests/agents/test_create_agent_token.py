"""createAgentToken: POST /v1/agent-tokens/requests/{id}/token."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from agents.models import AgentRequest, AgentToken
from agents.services import cancel_request, create_token, freeze_agent, reject_request, revoke_token
from agents.tokens import digest
from tests.agents.factories import ApprovedFactory, RequestFactory
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def approved() -> AgentRequest:
    return ApprovedFactory()


def create(request: AgentRequest, body: Any = None, *, key: str | None = None) -> Answer:
    url = f"/v1/agent-tokens/requests/{request.pk}/token"
    return Api.as_person(request.requester).post(url, body or {}, key=key)


def days_left(response: Answer) -> float:
    left: timedelta = datetime.fromisoformat(response.json["expiresAt"]) - timezone.now()
    return left / timedelta(days=1)


def test_response_contains_the_token(approved: AgentRequest) -> None:
    """Agent token: active; token, tokenId, prefix, expiresAt, and it works."""
    response = create(approved, {"label": "laptop"})
    assert response.status == 201
    assert set(response.json) == {"token", "tokenId", "prefix", "expiresAt"}
    token = response.json["token"]
    assert token.startswith("cag_")
    assert response.json["prefix"] == token[:12]
    row = AgentToken.objects.get(pk=response.json["tokenId"])
    assert (row.label, bytes(row.digest)) == ("laptop", digest(token))
    assert Api.as_agent(token).get("/v1/agent/self").status == 200


def test_the_days_are_an_integer_from_1_to_365_and_the_label_has_at_most_80_characters(approved: AgentRequest) -> None:
    for days in (1, 365):
        assert days_left(create(approved, {"expiresInDays": days})) == pytest.approx(days, abs=0.01)
    for label in ("x" * 80, ""):
        assert create(approved, {"label": label}).status == 201
    days = (0, 366, -1, "90", 90.0, 1.5, True, [90], 2**62)
    for body in (*({"expiresInDays": each} for each in days), {"label": "x" * 81}, {"label": 7}):
        assert create(approved, body).status == 400, body


def test_default_lifetime_is_90_days(approved: AgentRequest) -> None:
    response = Api.as_person(approved.requester).post(f"/v1/agent-tokens/requests/{approved.pk}/token")
    assert days_left(response) == pytest.approx(90, abs=0.01)
    assert response.json["expiresAt"].endswith("Z")


@pytest.mark.parametrize("status", ["pending", "rejected", "cancelled"])
def test_request_must_be_approved(status: str) -> None:
    """409 request_not_approved."""
    agent_request = RequestFactory()
    if status == "rejected":
        reject_request(request_id=agent_request.pk, by=SuperAdminFactory())
    if status == "cancelled":
        cancel_request(request_id=agent_request.pk, by=agent_request.requester)
    response = create(agent_request)
    assert (response.status, response.error) == (409, "request_not_approved")


def test_agent_has_at_most_five_active_tokens(approved: AgentRequest) -> None:
    """Limits: 5 active per agent; revoked and expired ones do not count."""
    token_ids = [create(approved).json["tokenId"] for _ in range(5)]
    response = create(approved)
    assert (response.status, response.error) == (409, "too_many_active_tokens")
    revoke_token(token_id=token_ids[0], by=approved.requester)
    assert create(approved).status == 201
    assert create(approved).status == 409
    AgentToken.objects.filter(pk=token_ids[1]).update(expires_at=timezone.now())
    assert create(approved).status == 201
    assert create(ApprovedFactory(requester=approved.requester)).status == 201


def test_frozen_agent_is_409(approved: AgentRequest) -> None:
    assert approved.agent is not None
    freeze_agent(agent=approved.agent, by=SuperAdminFactory())
    response = create(approved)
    assert (response.status, response.error) == (409, "agent_frozen")


def test_unknown_request_is_404() -> None:
    for request_id in ["018f0000-0000-7000-8000-000000000000", "nonsense"]:
        response = Api.as_person(PersonFactory()).post(f"/v1/agent-tokens/requests/{request_id}/token")
        assert (response.status, response.error) == (404, "request_not_found"), request_id


def test_replay_returns_the_same_token(approved: AgentRequest) -> None:
    """Idempotency: the same token and one row, even when the limit is exhausted."""
    first = create(approved, {"label": "laptop"}, key="my key")
    for _ in range(4):
        create(approved)
    again = create(approved, {"label": "laptop"}, key="my key")
    assert (again.status, again.body) == (201, first.body)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert AgentToken.objects.count() == 5


@pytest.mark.django_db(transaction=True)
def test_database_does_not_contain_the_token(approved: AgentRequest) -> None:
    """Nor the Idempotency-Key, which decrypts the stored response; as text or as bytes."""
    key = "a key that only the caller knows"
    token = create(approved, key=key).json["token"]
    assert create(approved, key=key).json["token"] == token
    dump = "".join(rows_of(table) for table in connection.introspection.table_names())
    assert str(AgentToken.objects.get().pk) in dump
    assert token[:12] in dump
    for secret in (token, token[4:], token[12:44], key):
        assert secret not in dump
        assert secret.encode().hex() not in dump


def rows_of(table: str) -> str:
    """Every row of a table in PostgreSQL's text format: bytes in hex."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT coalesce(string_agg(t::text, chr(10)), '') FROM \"{table}\" t")
        (text,) = cursor.fetchone()
    return str(text)


@pytest.mark.django_db(transaction=True)
def test_concurrent_calls_create_at_most_five_tokens(approved: AgentRequest) -> None:
    """Limits: 5 active tokens, also under concurrency."""
    statuses = race(20, lambda _n: create(approved).status)
    assert sorted(statuses) == [201] * 5 + [409] * 15
    assert AgentToken.objects.active().count() == 5


@pytest.mark.django_db(transaction=True)
def test_concurrent_calls_with_one_key_create_one_token(approved: AgentRequest) -> None:
    responses = race(20, lambda _n: create(approved, key="once"))
    assert {response.status for response in responses} <= {201, 409}
    assert {response.error for response in responses if response.status == 409} <= {"idempotency_in_progress"}
    assert len({response.json["token"] for response in responses if response.status == 201}) == 1
    assert AgentToken.objects.count() == 1


def test_service_returns_the_row_and_the_value(approved: AgentRequest) -> None:
    row, value = create_token(request_id=approved.pk, by=approved.requester)
    assert value.startswith(row.prefix)
