"""approveAgentRequest: POST /v1/agent-tokens/requests/{id}/approve."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry

from agents.models import Agent
from messaging.models import Account, AccountKind
from tests.agents.factories import ApprovedFactory, RequestFactory
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bystander")]


@pytest.fixture
def admin() -> Account:
    return SuperAdminFactory()


@pytest.fixture
def api(admin: Account) -> Api:
    return Api.as_person(admin)


def approve(caller: Api, request_id: object, body: Any = None, **options: Any) -> Answer:
    return caller.post(f"/v1/agent-tokens/requests/{request_id}/approve", body or {}, **options)


def test_approve_creates_the_agent(api: Api, admin: Account) -> None:
    """Agent request: pending → approved; the account is created, the requester becomes its operator."""
    agent_request = RequestFactory()
    response = approve(api, agent_request.pk, {"reason": "Useful."})
    assert (response.status, response.json["status"], response.json["reason"]) == (200, "approved", "Useful.")
    assert response.json["decidedBy"]["id"] == str(admin.pk)
    assert response.json["decidedAt"] is not None
    agent = Agent.objects.select_related("account").get(pk=response.json["agent"]["id"])
    assert (agent.account.handle, agent.account.name) == (agent_request.agent_handle, agent_request.agent_name)
    assert (agent.account.kind, agent.operator_id) == (AccountKind.AGENT, agent_request.requester_id)
    assert (agent.scopes, agent.community_ids) == (agent_request.scopes, [])
    assert not agent.account.has_usable_password()


def test_body_is_optional(api: Api) -> None:
    assert api.post(f"/v1/agent-tokens/requests/{RequestFactory().pk}/approve").json["status"] == "approved"


def test_approve_can_narrow_the_grant_and_does_not_change_the_request(api: Api) -> None:
    communities = [community.pk for community in CommunityFactory.create_batch(2)]
    agent_request = RequestFactory(scopes=["post", "reply"], community_ids=communities)
    response = approve(api, agent_request.pk, {"scopes": ["reply"], "communityIds": [str(communities[1])]})
    assert response.json["scopes"] == ["post", "reply"]
    assert response.json["communityIds"] == [str(community_id) for community_id in communities]
    agent = Agent.objects.get(account__handle=agent_request.agent_handle)
    assert (agent.scopes, agent.community_ids) == (["reply"], [communities[1]])


def test_approve_can_restrict_every_community_to_one(api: Api) -> None:
    community = CommunityFactory()
    agent_request = RequestFactory()
    assert approve(api, agent_request.pk, {"communityIds": [str(community.pk)]}).status == 200
    assert Agent.objects.get(account__handle=agent_request.agent_handle).community_ids == [community.pk]


def test_approve_cannot_widen_scopes(api: Api) -> None:
    for scopes in [[], ["post", "react"], ["react"], ["admin"], [None]]:
        agent_request = RequestFactory(scopes=["post"])
        response = approve(api, agent_request.pk, {"scopes": scopes})
        assert (response.status, response.json["field"].partition("[")[0]) == (400, "scopes"), scopes
        assert not Agent.objects.filter(account__handle=agent_request.agent_handle).exists(), scopes


def test_approve_cannot_widen_communities(api: Api) -> None:
    """An empty list means every community, so a restricted request refuses it (400)."""
    mine, other = CommunityFactory.create_batch(2)
    agent_request = RequestFactory(community_ids=[mine.pk])
    for communities in ([], [str(other.pk)], [str(mine.pk), str(other.pk)]):
        response = approve(api, agent_request.pk, {"communityIds": communities})
        assert (response.status, response.json["field"]) == (400, "communityIds")
    unknown = approve(api, RequestFactory().pk, {"communityIds": [str(agent_request.pk)]})
    assert (unknown.status, unknown.json["field"]) == (400, "communityIds")


def test_reason_has_at_most_500_characters(api: Api) -> None:
    agent_request = RequestFactory()
    assert approve(api, agent_request.pk, {"reason": "x" * 501}).status == 400
    assert approve(api, agent_request.pk, {"reason": "x" * 500}).status == 200


@pytest.mark.parametrize("decision", ["approve", "reject", "cancel"])
def test_decided_request_cannot_be_approved(api: Api, decision: str) -> None:
    """409 request_not_pending."""
    agent_request = RequestFactory(requester=SuperAdminFactory())
    own = Api.as_person(agent_request.requester)
    assert own.post(f"/v1/agent-tokens/requests/{agent_request.pk}/{decision}").status == 200
    response = approve(api, agent_request.pk)
    assert (response.status, response.error) == (409, "request_not_pending")
    assert Agent.objects.filter(account__handle=agent_request.agent_handle).exists() == (decision == "approve")


def test_approve_requires_a_super_admin_before_it_reads_the_request() -> None:
    """Rule 7: 403 even with an unknown request or an invalid body."""
    agent_request = RequestFactory()
    for caller in (agent_request.requester, PersonFactory(is_staff=True)):
        for request_id in (agent_request.pk, PersonFactory().pk):
            assert approve(Api.as_person(caller), request_id, {"scopes": 7}).error == "super_admin_required"


def test_unknown_request_is_404(api: Api) -> None:
    for request_id in ["018f0000-0000-7000-8000-000000000000", "nonsense", "1"]:
        response = approve(api, request_id)
        assert (response.status, response.error) == (404, "request_not_found"), request_id


def test_approval_is_logged(api: Api, admin: Account) -> None:
    """The log entry has the super admin and the reason."""
    agent_request = RequestFactory()
    approve(api, agent_request.pk, {"reason": "Useful."})
    entry = LogEntry.objects.get(object_id=str(agent_request.pk))
    assert entry.user_id == admin.pk
    assert entry.change_message == "Approved (pending → approved): Useful."


def test_the_log_of_an_approval_says_how_it_was_narrowed(api: Api) -> None:
    agent_request = RequestFactory(scopes=["post", "reply"])
    approve(api, agent_request.pk, {"scopes": ["post"]})
    entry = LogEntry.objects.get(object_id=str(agent_request.pk))
    assert entry.change_message == "Approved (pending → approved), narrowed scopes (−reply)."


def test_retry_with_the_same_key_returns_the_same_response(api: Api) -> None:
    agent_request = RequestFactory()
    first, second = (approve(api, agent_request.pk, key="once") for _ in range(2))
    assert (second.status, second.body) == (200, first.body)


@pytest.mark.django_db(transaction=True)
def test_concurrent_decisions_only_one_succeeds(admin: Account) -> None:
    """One succeeds, the others are 409; an agent exists only after an approval."""
    agent_request = RequestFactory()
    verbs = ["approve", "reject"] * 3
    url = f"/v1/agent-tokens/requests/{agent_request.pk}"
    responses = race(6, lambda n: Api.as_person(admin).post(f"{url}/{verbs[n]}"))
    assert sorted(response.status for response in responses) == [200] + [409] * 5
    (success,) = (response for response in responses if response.status == 200)
    created = Agent.objects.filter(account__handle=agent_request.agent_handle)
    assert created.count() == (success.json["status"] == "approved")


@pytest.mark.django_db(transaction=True)
def test_concurrent_approvals_create_one_account(admin: Account) -> None:
    agent_request = RequestFactory()
    statuses = race(2, lambda _n: approve(Api.as_person(admin), agent_request.pk).status)
    assert sorted(statuses) == [200, 409]
    assert Account.objects.filter(handle=agent_request.agent_handle).count() == 1


def test_handle_of_an_approved_request_is_not_available() -> None:
    approved = ApprovedFactory()
    again = {"agentName": "Other", "agentHandle": approved.agent_handle, "purpose": "x" * 20, "scopes": ["post"]}
    assert Api.as_person(PersonFactory()).post("/v1/agent-tokens/requests", again).error == "handle_taken"
