"""rotateAgentToken: POST /v1/agent-tokens/{id}/rotate."""

from __future__ import annotations

from datetime import datetime, timedelta
from importlib import import_module

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.db.models import F
from django.utils import timezone

from agents.models import ACTIVE_MAX, AgentToken
from agents.services import announce_expiring_tokens, create_token, freeze_agent, revoke_token
from agents.tokens import digest
from tests.agents.factories import TokenHolder, agent_with_token
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.factories import PersonFactory, SuperAdminFactory

days_of_successor = import_module("agents.migrations.0004_days_of_successor")
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bystander")]


@pytest.fixture
def holder() -> TokenHolder:
    return agent_with_token()


def rotate(caller: Api, token_id: object, *, key: str | None = None, **body: object) -> Answer:
    return caller.post(f"/v1/agent-tokens/{token_id}/rotate", body, key=key)


def works(value: str) -> bool:
    return Api.as_agent(value).get("/v1/agent/self").status == 200


def fill(holder: TokenHolder) -> None:
    for _ in range(ACTIVE_MAX - 1):
        create_token(request_id=holder.request.pk, by=holder.request.requester)


def test_by_default_the_former_token_ends_at_once(holder: TokenHolder) -> None:
    response = rotate(holder.operator, holder.token.pk)
    assert response.status == 201
    assert set(response.json) == {"token", "tokenId", "prefix", "expiresAt", "oldEndsAt"}
    row = AgentToken.objects.get(pk=response.json["tokenId"])
    assert (row.agent_id, bytes(row.digest)) == (holder.agent.pk, digest(response.json["token"]))
    assert works(response.json["token"])
    assert holder.api.get("/v1/agent/self").error == "token_revoked"
    former = AgentToken.objects.get(pk=holder.token.pk)
    assert datetime.fromisoformat(response.json["oldEndsAt"]) == former.revoked_at
    assert (former.revoked_by, former.revoke_reason) == (holder.request.requester, "Rotated.")


@pytest.mark.parametrize(
    ("ends", "delay"), [("hour", timedelta(hours=1)), ("day", timedelta(days=1)), ("week", timedelta(weeks=1))]
)
def test_former_token_works_until_its_end(holder: TokenHolder, ends: str, delay: timedelta) -> None:
    response = rotate(holder.operator, holder.token.pk, oldEndsIn=ends)
    left = datetime.fromisoformat(response.json["oldEndsAt"]) - timezone.now()
    assert delay - timedelta(minutes=5) < left <= delay + timedelta(minutes=5)
    assert works(holder.value)
    assert works(response.json["token"])
    AgentToken.objects.filter(pk=holder.token.pk).update(expires_at=F("expires_at") - delay)
    assert holder.api.get("/v1/agent/self").error == "token_expired"


def test_rotation_never_prolongs_the_former_token(holder: TokenHolder) -> None:
    ends_at = timezone.now() + timedelta(minutes=5)
    AgentToken.objects.filter(pk=holder.token.pk).update(expires_at=ends_at)
    response = rotate(holder.operator, holder.token.pk, oldEndsIn="week")
    assert datetime.fromisoformat(response.json["oldEndsAt"]) == ends_at


def test_the_new_token_has_label_and_lifetime_of_the_former_one(holder: TokenHolder) -> None:
    token, _value = create_token(
        request_id=holder.request.pk, by=holder.request.requester, label="laptop", expires_in_days=30
    )
    AgentToken.objects.filter(pk=token.pk).update(
        created_at=F("created_at") - timedelta(days=29), expires_at=F("expires_at") - timedelta(days=29)
    )
    new = AgentToken.objects.get(pk=rotate(holder.operator, token.pk).json["tokenId"])
    assert (new.label, new.expires_at - new.created_at) == ("laptop", timedelta(days=30))


def lifetime(token_id: object) -> timedelta:
    token = AgentToken.objects.get(pk=str(token_id))
    return token.expires_at - token.created_at


def test_a_token_that_is_rotated_again_has_a_successor_of_the_same_lifetime(holder: TokenHolder) -> None:
    """Also if the successor was rotated meanwhile, and if the former one was announced as expiring before."""
    token, _value = create_token(request_id=holder.request.pk, by=holder.request.requester, expires_in_days=6)
    assert announce_expiring_tokens() == 1
    first = rotate(holder.operator, token.pk, oldEndsIn="hour").json["tokenId"]
    rotate(holder.operator, first, oldEndsIn="hour")
    second = rotate(holder.operator, token.pk, oldEndsIn="hour").json["tokenId"]
    last = rotate(holder.operator, token.pk).json["tokenId"]
    assert [lifetime(second), lifetime(last)] == [timedelta(days=6)] * 2


def test_a_token_that_a_former_release_has_rotated_gets_the_days_of_its_successor(holder: TokenHolder) -> None:
    """A statement of the migration fills the column."""
    rotate(holder.operator, holder.token.pk, oldEndsIn="week", expiresInDays=70)
    holder.agent.tokens.update(days_of_successor=None)
    with connection.cursor() as cursor:
        cursor.execute(days_of_successor.FILL)
    assert set(holder.agent.tokens.values_list("days_of_successor", flat=True)) == {70, None}
    assert lifetime(rotate(holder.operator, holder.token.pk).json["tokenId"]) == timedelta(days=70)


def test_a_lifetime_that_was_given_is_that_of_the_next_rotation(holder: TokenHolder) -> None:
    rotate(holder.operator, holder.token.pk, oldEndsIn="hour", expiresInDays=7)
    assert lifetime(rotate(holder.operator, holder.token.pk).json["tokenId"]) == timedelta(days=7)


@pytest.mark.parametrize(("days", "status"), [(1, 201), (365, 201), (0, 400), (366, 400), ("7", 400)])
def test_the_lifetime_may_be_given(holder: TokenHolder, days: object, status: int) -> None:
    response = rotate(holder.operator, holder.token.pk, expiresInDays=days)
    assert response.status == status
    if status == 201:
        new = AgentToken.objects.get(pk=response.json["tokenId"])
        assert new.expires_at - new.created_at == timedelta(days=int(str(days)))


def test_a_former_token_that_works_is_one_of_the_five(holder: TokenHolder) -> None:
    fill(holder)
    for ends in ("hour", "day", "week"):
        refused = rotate(holder.operator, holder.token.pk, oldEndsIn=ends)
        assert (refused.status, refused.error) == (409, "too_many_active_tokens")
    assert works(holder.value)
    assert rotate(holder.operator, holder.token.pk, oldEndsIn="now").status == 201
    assert AgentToken.objects.active().filter(agent=holder.agent).count() == ACTIVE_MAX


def test_a_token_that_works_may_be_rotated_again(holder: TokenHolder) -> None:
    """An operator who lost the response of the first call gets another token."""
    week = rotate(holder.operator, holder.token.pk, oldEndsIn="week")
    hour = rotate(holder.operator, holder.token.pk, oldEndsIn="hour")
    assert hour.json["oldEndsAt"] < week.json["oldEndsAt"]
    assert rotate(holder.operator, holder.token.pk, oldEndsIn="week").json["oldEndsAt"] == hour.json["oldEndsAt"]


@pytest.mark.parametrize("state", ["revoked", "expired"])
def test_a_token_that_does_not_work_is_409(holder: TokenHolder, state: str) -> None:
    if state == "revoked":
        revoke_token(token_id=holder.token.pk, by=holder.request.requester)
    else:
        AgentToken.objects.filter(pk=holder.token.pk).update(expires_at=timezone.now())
    refused = rotate(holder.operator, holder.token.pk)
    assert (refused.status, refused.error, refused.json["status"]) == (409, "token_not_active", state)
    assert holder.agent.tokens.count() == 1


def test_a_stopped_agent_is_409(holder: TokenHolder) -> None:
    freeze_agent(agent=holder.agent, by=SuperAdminFactory())
    assert rotate(holder.operator, holder.token.pk).error == "agent_frozen"
    assert holder.agent.tokens.get().revoked_at is None


def test_only_the_operator_may_rotate(holder: TokenHolder) -> None:
    for caller in (PersonFactory(), SuperAdminFactory()):
        assert rotate(Api.as_person(caller), holder.token.pk).error == "token_not_found"
    assert rotate(holder.api, holder.token.pk).error == "agent_route_not_allowed"
    assert rotate(holder.operator, "nonsense").refusal == {"error": "token_not_found"}
    assert works(holder.value)


@pytest.mark.parametrize("ends", ["", "NOW", "month", 1, None, ["now"], "now\x00"])
def test_other_ends_are_400(holder: TokenHolder, ends: object) -> None:
    response = rotate(holder.operator, holder.token.pk, oldEndsIn=ends)
    # `null` is an absent field.
    assert response.status == (201 if ends is None else 400)


def test_a_retry_returns_the_same_token(holder: TokenHolder) -> None:
    first, second = (rotate(holder.operator, holder.token.pk, key="once") for _ in range(2))
    assert first.json == second.json
    assert holder.agent.tokens.count() == 2


def test_an_end_that_the_operator_chose_is_not_announced(holder: TokenHolder) -> None:
    rotate(holder.operator, holder.token.pk, oldEndsIn="day")
    assert announce_expiring_tokens() == 0


def test_rotations_are_logged(holder: TokenHolder) -> None:
    rotate(holder.operator, holder.token.pk, oldEndsIn="day")
    entry = LogEntry.objects.get(object_id=str(holder.token.pk))
    assert (entry.user_id, entry.change_message) == (holder.request.requester_id, "Rotated.")


@pytest.mark.django_db(transaction=True)
def test_concurrent_rotations_never_exceed_the_limit() -> None:
    holder = agent_with_token()
    statuses = race(8, lambda _n: rotate(holder.operator, holder.token.pk, oldEndsIn="hour").status)
    assert sorted(statuses) == [201] * (ACTIVE_MAX - 1) + [409] * (8 - ACTIVE_MAX + 1)
    assert AgentToken.objects.active().filter(agent=holder.agent).count() == ACTIVE_MAX


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_rotations_that_end_the_token_one_succeeds() -> None:
    holder = agent_with_token()
    responses = race(6, lambda _n: rotate(holder.operator, holder.token.pk))
    assert sorted(response.status for response in responses) == [201] + [409] * 5
    assert AgentToken.objects.active().filter(agent=holder.agent).count() == 1
