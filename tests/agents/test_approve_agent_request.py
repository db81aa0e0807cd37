"""approveAgentRequest: POST /v1/agent-tokens/requests/{id}/approve."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry

from agents.models import Agent
from messaging.models import Account, AccountKind
from tests.agents.factories import ApprovedFactory, RequestFactory, agent_with_token
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Account:
    return SuperAdminFactory()


@pytest.fixture
def api(admin: Account) -> Api:
    return Api.as_person(admin)


def approve(caller: Api, request_id: object, body: Any = None, **options: Any) -> Answer:
    return caller.post(f"/v1/agent-tokens/requests/{request_id}/approve", body or {}, **options)


def test_makes_the_agent(api: Api, admin: Account) -> None:
    """Agent request: pending → approved; the account is created, the requester becomes its operator."""
    asked = RequestFactory()
    answer = approve(api, asked.pk, {"reason": "Useful."})
    assert (answer.status, answer.json["status"], answer.json["reason"]) == (200, "approved", "Useful.")
    assert answer.json["decidedBy"]["id"] == str(admin.pk)
    assert answer.json["decidedAt"] is not None
    agent = Agent.objects.select_related("account").get(pk=answer.json["agent"]["id"])
    assert (agent.account.handle, agent.account.name) == (asked.agent_handle, asked.agent_name)
    assert (agent.account.kind, agent.operator_id) == (AccountKind.AGENT, asked.requester_id)
    assert (agent.scopes, agent.community_ids) == (asked.scopes, [])
    assert not agent.account.has_usable_password()


def test_body_may_be_absent(api: Api) -> None:
    assert api.post(f"/v1/agent-tokens/requests/{RequestFactory().pk}/approve").json["status"] == "approved"


def test_may_narrow_and_keeps_what_was_asked(api: Api) -> None:
    held = [community.pk for community in CommunityFactory.create_batch(2)]
    asked = RequestFactory(scopes=["post", "reply"], community_ids=held)
    answer = approve(api, asked.pk, {"scopes": ["reply"], "communityIds": [str(held[1])]})
    assert answer.json["scopes"] == ["post", "reply"]
    assert answer.json["communityIds"] == [str(community_id) for community_id in held]
    agent = Agent.objects.get()
    assert (agent.scopes, agent.community_ids) == (["reply"], [held[1]])


def test_an_unlimited_request_may_be_limited(api: Api) -> None:
    community = CommunityFactory()
    assert approve(api, RequestFactory().pk, {"communityIds": [str(community.pk)]}).status == 200
    assert Agent.objects.get().community_ids == [community.pk]


@pytest.mark.parametrize("scopes", [[], ["post", "react"], ["react"], ["admin"], [None]])
def test_may_not_widen_scopes(api: Api, scopes: Any) -> None:
    asked = RequestFactory(scopes=["post"])
    answer = approve(api, asked.pk, {"scopes": scopes})
    assert (answer.status, answer.json["field"].partition("[")[0]) == (400, "scopes")
    assert not Agent.objects.exists()


def test_may_not_widen_communities(api: Api) -> None:
    """An empty list would mean every community: 400 where the request was limited."""
    mine, other = CommunityFactory.create_batch(2)
    asked = RequestFactory(community_ids=[mine.pk])
    for communities in ([], [str(other.pk)], [str(mine.pk), str(other.pk)]):
        answer = approve(api, asked.pk, {"communityIds": communities})
        assert (answer.status, answer.json["field"]) == (400, "communityIds")
    unknown = approve(api, RequestFactory().pk, {"communityIds": [str(asked.pk)]})
    assert (unknown.status, unknown.json["field"]) == (400, "communityIds")


def test_reason_has_at_most_500_characters(api: Api) -> None:
    asked = RequestFactory()
    assert approve(api, asked.pk, {"reason": "x" * 501}).status == 400
    assert approve(api, asked.pk, {"reason": "x" * 500}).status == 200


@pytest.mark.parametrize("decision", ["approve", "reject", "cancel"])
def test_starts_from_pending_only(api: Api, decision: str) -> None:
    """409 request_not_pending."""
    admin_asks = RequestFactory(requester=SuperAdminFactory())
    own = Api.as_person(admin_asks.requester)
    assert own.post(f"/v1/agent-tokens/requests/{admin_asks.pk}/{decision}").status == 200
    answer = approve(api, admin_asks.pk)
    assert (answer.status, answer.error) == (409, "request_not_pending")
    assert Agent.objects.count() == (decision == "approve")


def test_is_for_super_admins_only(admin: Account) -> None:
    """Rule 7, rule 6: 403 for persons and agents, known request or not, valid body or not."""
    asked = RequestFactory()
    for caller in (asked.requester, PersonFactory(is_staff=True)):
        for request_id in (asked.pk, PersonFactory().pk):
            assert approve(Api.as_person(caller), request_id, {"scopes": 7}).error == "super_admin_required"
    assert approve(agent_with_token().api, asked.pk).error == "agent_route_not_allowed"
    assert approve(Api(), asked.pk).error == "not_authenticated"
    assert approve(Api.as_signed_in(admin), asked.pk).error == "invalid_token"


@pytest.mark.parametrize("request_id", ["018f0000-0000-7000-8000-000000000000", "nonsense", "1"])
def test_unknown_request(api: Api, request_id: str) -> None:
    answer = approve(api, request_id)
    assert (answer.status, answer.error) == (404, "request_not_found")


def test_stands_in_the_history(api: Api, admin: Account) -> None:
    """Who, when and why, in Django's own history."""
    asked = RequestFactory()
    approve(api, asked.pk, {"reason": "Useful."})
    entry = LogEntry.objects.get(object_id=str(asked.pk))
    assert entry.user_id == admin.pk
    assert entry.change_message == "Approved: Useful."


def test_a_repeat_with_the_same_key_answers_the_first(api: Api) -> None:
    asked = RequestFactory()
    first, second = (approve(api, asked.pk, key="once") for _ in range(2))
    assert (second.status, second.body) == (200, first.body)


@pytest.mark.django_db(transaction=True)
def test_two_decisions_at_once(admin: Account) -> None:
    """One wins, the others are told; one agent exists or none."""
    asked = RequestFactory()
    verbs = ["approve", "reject"] * 3
    url = f"/v1/agent-tokens/requests/{asked.pk}"
    answers = race(6, lambda n: Api.as_person(admin).post(f"{url}/{verbs[n]}"))
    assert sorted(answer.status for answer in answers) == [200] + [409] * 5
    (won,) = (answer for answer in answers if answer.status == 200)
    assert Agent.objects.count() == (won.json["status"] == "approved")


@pytest.mark.django_db(transaction=True)
def test_two_approvals_at_once(admin: Account) -> None:
    asked = RequestFactory()
    statuses = race(2, lambda _n: approve(Api.as_person(admin), asked.pk).status)
    assert sorted(statuses) == [200, 409]
    assert Account.objects.filter(handle=asked.agent_handle).count() == 1


def test_handle_stays_taken() -> None:
    approved = ApprovedFactory()
    again = {"agentName": "Other", "agentHandle": approved.agent_handle, "purpose": "x" * 20, "scopes": ["post"]}
    assert Api.as_person(PersonFactory()).post("/v1/agent-tokens/requests", again).error == "handle_taken"
