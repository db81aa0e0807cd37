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
from tests.agents.factories import ApprovedFactory, RequestFactory, agent_with_token
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


def days_left(answer: Answer) -> float:
    left: timedelta = datetime.fromisoformat(answer.json["expiresAt"]) - timezone.now()
    return left / timedelta(days=1)


def test_answers_the_token_once(approved: AgentRequest) -> None:
    """Agent token: active; token, tokenId, prefix, expiresAt, and it works."""
    answer = create(approved, {"label": "laptop"})
    assert answer.status == 201
    assert set(answer.json) == {"token", "tokenId", "prefix", "expiresAt"}
    token = answer.json["token"]
    assert token.startswith("cag_")
    assert answer.json["prefix"] == token[:12]
    row = AgentToken.objects.get(pk=answer.json["tokenId"])
    assert (row.label, bytes(row.digest)) == ("laptop", digest(token))
    assert Api.as_agent(token).get("/v1/agent/self").status == 200


def test_lasts_90_days_by_default(approved: AgentRequest) -> None:
    answer = Api.as_person(approved.requester).post(f"/v1/agent-tokens/requests/{approved.pk}/token")
    assert days_left(answer) == pytest.approx(90, abs=0.01)
    assert answer.json["expiresAt"].endswith("Z")


@pytest.mark.parametrize(("days", "status"), [(1, 201), (365, 201), (0, 400), (366, 400), (-1, 400)])
def test_expires_in_days(approved: AgentRequest, days: int, status: int) -> None:
    """Limits: expiresInDays 1 to 365."""
    answer = create(approved, {"expiresInDays": days})
    assert answer.status == status
    if status == 201:
        assert days_left(answer) == pytest.approx(days, abs=0.01)


@pytest.mark.parametrize("days", ["90", 90.0, 1.5, True, [90], 2**62])
def test_days_are_an_integer(approved: AgentRequest, days: object) -> None:
    assert create(approved, {"expiresInDays": days}).status == 400


@pytest.mark.parametrize(("label", "status"), [("x" * 80, 201), ("", 201), ("x" * 81, 400), (7, 400)])
def test_label(approved: AgentRequest, label: object, status: int) -> None:
    """Limits: token label 80 characters."""
    assert create(approved, {"label": label}).status == status


@pytest.mark.parametrize("status", ["pending", "rejected", "cancelled"])
def test_needs_an_approved_request(status: str) -> None:
    """409 request_not_approved."""
    asked = RequestFactory()
    if status == "rejected":
        reject_request(request_id=asked.pk, by=SuperAdminFactory())
    if status == "cancelled":
        cancel_request(request_id=asked.pk, by=asked.requester)
    answer = create(asked)
    assert (answer.status, answer.error) == (409, "request_not_approved")


def test_five_active_tokens_at_most(approved: AgentRequest) -> None:
    """Limits: 5 active per agent; revoked and expired ones do not count."""
    held = [create(approved).json["tokenId"] for _ in range(5)]
    answer = create(approved)
    assert (answer.status, answer.error) == (409, "too_many_active_tokens")
    revoke_token(token_id=held[0], by=approved.requester)
    assert create(approved).status == 201
    assert create(approved).status == 409
    AgentToken.objects.filter(pk=held[1]).update(expires_at=timezone.now())
    assert create(approved).status == 201
    assert create(ApprovedFactory(requester=approved.requester)).status == 201


def test_none_for_a_frozen_agent(approved: AgentRequest) -> None:
    assert approved.agent is not None
    freeze_agent(agent=approved.agent, by=SuperAdminFactory())
    answer = create(approved)
    assert (answer.status, answer.error) == (409, "agent_frozen")


def test_only_the_requester(approved: AgentRequest) -> None:
    """Rule 7: to others, super admins included, the request does not exist."""
    url = f"/v1/agent-tokens/requests/{approved.pk}/token"
    for caller in (PersonFactory(), SuperAdminFactory()):
        assert Api.as_person(caller).post(url).error == "request_not_found"
    assert agent_with_token().api.post(url).error == "agent_route_not_allowed"
    assert Api().post(url).error == "not_authenticated"
    assert Api.as_signed_in(approved.requester).post(url).error == "invalid_token"


@pytest.mark.parametrize("request_id", ["018f0000-0000-7000-8000-000000000000", "nonsense"])
def test_unknown_request(request_id: str) -> None:
    answer = Api.as_person(PersonFactory()).post(f"/v1/agent-tokens/requests/{request_id}/token")
    assert (answer.status, answer.error) == (404, "request_not_found")


def test_a_repeat_answers_the_same_token(approved: AgentRequest) -> None:
    """Idempotency: the same token, one row, whatever the state has become."""
    first = create(approved, {"label": "laptop"}, key="my key")
    for _ in range(4):
        create(approved)
    again = create(approved, {"label": "laptop"}, key="my key")
    assert (again.status, again.body) == (201, first.body)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert AgentToken.objects.count() == 5


@pytest.mark.django_db(transaction=True)
def test_no_dump_of_the_database_holds_the_token(approved: AgentRequest) -> None:
    """Nor the Idempotency-Key that would open the stored answer; in text or in bytes."""
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
    """Every row of a table as PostgreSQL writes it out: text as it is, bytes in hex."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT coalesce(string_agg(t::text, chr(10)), '') FROM \"{table}\" t")
        (text,) = cursor.fetchone()
    return str(text)


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_leave_five(approved: AgentRequest) -> None:
    """Limits: the 5 hold under concurrency."""
    statuses = race(20, lambda _n: create(approved).status)
    assert sorted(statuses) == [201] * 5 + [409] * 15
    assert AgentToken.objects.active().count() == 5


@pytest.mark.django_db(transaction=True)
def test_twenty_with_one_key_make_one(approved: AgentRequest) -> None:
    answers = race(20, lambda _n: create(approved, key="once"))
    assert {answer.status for answer in answers} <= {201, 409}
    assert {answer.error for answer in answers if answer.status == 409} <= {"idempotency_in_progress"}
    assert len({answer.json["token"] for answer in answers if answer.status == 201}) == 1
    assert AgentToken.objects.count() == 1


def test_service_makes_what_the_api_shows(approved: AgentRequest) -> None:
    row, value = create_token(request_id=approved.pk, by=approved.requester)
    assert value.startswith(row.prefix)
