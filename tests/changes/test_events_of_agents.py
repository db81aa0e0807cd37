"""The events of inboxes about agents, their requests and their tokens."""

from __future__ import annotations

import pytest
from django.db.models import QuerySet

from agents.services import freeze_agent, narrow_agent, unfreeze_agent
from kernel.changes.models import Change
from messaging.inbox.events import SERVICE
from messaging.models import Account
from tests.agents.factories import RequestFactory, TokenHolder, agent_with_token
from tests.api import Api
from tests.changes.inbox import events, types
from tests.factories import CommunityFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
REQUESTS = "/v1/agent-tokens/requests"


@pytest.fixture
def boss() -> Account:
    return SuperAdminFactory()


@pytest.fixture
def agent() -> TokenHolder:
    """An agent whose approval is not in the log."""
    holder = agent_with_token()
    Change.objects.all().delete()
    return holder


def in_inboxes() -> QuerySet[Change]:
    """The rows that are events of accounts. Those for super admins belong to none."""
    return Change.objects.exclude(account_id=SERVICE)


def test_an_approval_is_an_event_of_the_requester_and_of_the_agent(boss: Account) -> None:
    request = RequestFactory()
    Api.as_person(boss).post(f"{REQUESTS}/{request.pk}/approve", {"reason": "Fine"})
    request.refresh_from_db()
    expected = {"requestId": str(request.pk), "status": "approved", "reason": "Fine"}
    expected |= {"scopes": request.scopes, "communityIds": []}
    (event,) = events(Api.as_person(request.requester))
    assert (event["type"], event["actor"], event["data"]) == ("request_decided", None, expected)
    assert [event[name] for name in ("pageId", "messageId", "message", "aboutId")] == [None] * 4
    assert list(in_inboxes().order_by("id").values_list("account_id", flat=True)) == [
        request.requester_id,
        request.agent_id,
    ]


def test_a_rejection_is_an_event_of_the_requester(boss: Account) -> None:
    request = RequestFactory()
    Api.as_person(boss).post(f"{REQUESTS}/{request.pk}/reject", {})
    (event,) = events(Api.as_person(request.requester))
    assert event["data"] == {"requestId": str(request.pk), "status": "rejected", "reason": None}


def test_ones_own_cancellation_and_approval_make_no_event_for_oneself(boss: Account) -> None:
    cancelled, own = RequestFactory(), RequestFactory(requester=boss)
    Api.as_person(cancelled.requester).post(f"{REQUESTS}/{cancelled.pk}/cancel", {})
    Api.as_person(boss).post(f"{REQUESTS}/{own.pk}/approve", {})
    own.refresh_from_db()
    assert list(in_inboxes().values_list("account_id", flat=True)) == [own.agent_id]


def test_a_refused_decision_makes_no_event(boss: Account) -> None:
    request = RequestFactory()
    Api.as_person(boss).post(f"{REQUESTS}/{request.pk}/reject", {})
    assert Api.as_person(boss).post(f"{REQUESTS}/{request.pk}/approve", {}).status == 409
    assert types(Api.as_person(request.requester)) == ["request_decided"]


def test_narrowing_is_an_event_of_the_agent_and_its_operator(agent: TokenHolder, boss: Account) -> None:
    community = CommunityFactory()
    for _ in range(2):
        narrow_agent(agent=agent.agent, by=boss, scopes=["react"], community_ids=[community.pk])
    for caller in (agent.api, agent.operator):
        (event,) = events(caller)
        assert (event["type"], event["actor"]) == ("agent_narrowed", None)
        assert event["data"] == {
            "agentId": str(agent.agent.pk),
            "scopes": ["react"],
            "communityIds": [str(community.pk)],
        }


def test_freezing_is_an_event_of_the_agent_and_its_operator(agent: TokenHolder, boss: Account) -> None:
    for _ in range(2):
        freeze_agent(agent=agent.agent, by=boss, reason="Too loud")
    assert agent.api.get("/v1/inbox").error == "agent_suspended"
    unfreeze_agent(agent=agent.agent, by=boss)
    for caller in (agent.api, agent.operator):
        (event,) = events(caller)
        assert (event["type"], event["actor"]) == ("agent_frozen", None)
        assert event["data"] == {"agentId": str(agent.agent.pk), "reason": "Too loud"}


def test_an_operator_who_narrows_or_freezes_gets_no_event(boss: Account) -> None:
    own = agent_with_token(requester=boss)
    Change.objects.all().delete()
    narrow_agent(agent=own.agent, by=boss, scopes=["react"])
    freeze_agent(agent=own.agent, by=boss)
    assert set(Change.objects.values_list("account_id", flat=True)) == {own.agent.pk}
