"""Requests for more rights of an agent: requestAgent with agentId, and the decisions on them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db.models import F

from agents.exceptions import UndoTooLate, WideningPending
from agents.models import Agent, AgentRequest, AgentToken
from agents.services import narrow_agent, reject_request, undo_decision
from kernel.changes.models import Change
from messaging.models import HandleClaim
from tests.agents.factories import RequestFactory, agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bystander")]
URL = "/v1/agent-tokens/requests"


@pytest.fixture
def holder() -> Any:
    """An agent that may reply, in one community."""
    holder = agent_with_token()
    holder.agent.scopes, holder.agent.community_ids = ["reply"], [CommunityFactory().pk]
    holder.agent.save()
    return holder


def body(holder: Any, **changes: Any) -> dict[str, Any]:
    base = {"agentId": str(holder.agent.pk), "scopes": ["reply", "quote"], "purpose": "It shall quote its sources too."}
    return base | changes


def ask(holder: Any, **changes: Any) -> Any:
    return Api.as_person(holder.request.requester).post(URL, body(holder, **changes))


def decide(request_id: str, verb: str = "approve", **sent: Any) -> Any:
    return Api.as_person(SuperAdminFactory()).post(f"{URL}/{request_id}/{verb}", sent)


def grant(holder: Any) -> tuple[list[str], list[Any]]:
    agent = Agent.objects.get(pk=holder.agent.pk)
    return agent.scopes, agent.community_ids


def test_the_response_is_a_pending_request_of_the_agent(holder: Any) -> None:
    asked = ask(holder)
    assert asked.status == 201
    names = ("status", "widens", "agentHandle", "scopes", "communityIds", "everyCommunity", "grantedScopes")
    assert [asked.json[name] for name in names] == [
        *("pending", True, holder.account.handle, ["reply", "quote"], [], False, ["reply"])
    ]
    assert asked.json["agent"]["id"] == str(holder.agent.pk)
    assert grant(holder)[0] == ["reply"]


def test_an_approval_adds_to_the_grant_and_to_its_tokens(holder: Any) -> None:
    community = CommunityFactory()
    request_id = ask(holder, communityIds=[str(community.pk)]).json["id"]
    decided = decide(request_id, reason="Welcome.")
    assert decided.status == 200
    assert grant(holder) == (["reply", "quote"], [holder.agent.community_ids[0], community.pk])
    assert decided.json["grantedScopes"] == ["reply", "quote"]
    assert holder.api.get("/v1/agent/self").json["scopes"] == ["reply", "quote"]
    told = Change.objects.filter(type="request_decided", data__requestId=request_id)
    assert {row.account_id for row in told} == {holder.agent.pk, holder.request.requester_id}
    entry = LogEntry.objects.filter(object_id=str(holder.agent.pk)).latest("pk")
    assert entry.change_message.startswith("Widened scopes (+quote), communities (+")
    assert HandleClaim.objects.filter(handle=holder.account.handle).count() == 1


@pytest.mark.parametrize(
    ("asked", "granted", "scopes", "communities"),
    [
        ({"scopes": ["post", "react"]}, {"scopes": ["react"]}, ["reply", "react"], "first"),
        ({"communityIds": []}, {}, ["reply", "quote"], "every"),
        ({"communityIds": []}, {"scopes": []}, ["reply"], "every"),
        ({"communityIds": []}, {"communityIds": ["second"]}, ["reply", "quote"], "both"),
        ({"communityIds": ["second"]}, {"communityIds": []}, ["reply", "quote"], "first"),
        ({"communityIds": ["second"]}, {"scopes": []}, ["reply"], "both"),
    ],
)
def test_an_approval_may_grant_less(
    holder: Any, asked: dict[str, Any], granted: dict[str, Any], scopes: list[str], communities: str
) -> None:
    first, second = holder.agent.community_ids[0], CommunityFactory().pk
    sent = [
        {name: [str(second)] if value == ["second"] else value for name, value in fields.items()}
        for fields in (asked, granted)
    ]
    assert decide(ask(holder, **sent[0]).json["id"], **sent[1]).status == 200
    assert grant(holder) == (scopes, {"first": [first], "every": [], "both": [first, second]}[communities])


def test_a_request_of_an_agent_of_every_community_adds_none(holder: Any) -> None:
    Agent.objects.filter(pk=holder.agent.pk).update(community_ids=[])
    decide(ask(holder, communityIds=[str(CommunityFactory().pk)]).json["id"])
    assert grant(holder) == (["reply", "quote"], [])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"scopes": ["reply"]}, "scopes"),
        ({"scopes": []}, "scopes"),
        ({"agentName": "Another"}, "agentName"),
        ({"agentHandle": "another"}, "agentHandle"),
        ({"website": "https://example.com/"}, "website"),
        ({"agentId": "x"}, "agentId"),
        ({"agentId": None}, "agentName"),
        ({"purpose": "short"}, "purpose"),
        ({"communityIds": ["0190a1b2-0000-7000-8000-000000000000"]}, "communityIds"),
    ],
)
def test_invalid_input(holder: Any, changes: dict[str, Any], field: str) -> None:
    refused = ask(holder, **changes)
    assert (refused.status, refused.json["field"]) == (400, field)
    assert not AgentRequest.objects.filter(widens=holder.agent).exists()


def test_too_many_communities_together(holder: Any) -> None:
    ids = [str(community.pk) for community in CommunityFactory.create_batch(20)]
    assert ask(holder, communityIds=ids).json["field"] == "communityIds"


def test_only_an_own_agent_that_is_not_deleted(holder: Any) -> None:
    stranger = Api.as_person(PersonFactory()).post(URL, body(holder))
    assert (stranger.status, stranger.json["error"]) == (404, "agent_not_found")
    assert holder.api.post(URL, body(holder)).status == 403
    Api.as_person(holder.request.requester).delete(f"/v1/agents/{holder.account.handle}")
    assert ask(holder).json["error"] == "agent_not_found"


def test_one_request_of_an_agent_is_open_at_a_time(holder: Any) -> None:
    first = ask(holder).json["id"]
    assert (ask(holder).status, ask(holder).json["error"]) == (409, "request_pending")
    assert decide(first, "reject").status == 200
    assert ask(holder).status == 201
    other = agent_with_token(requester=holder.request.requester, scopes=["reply"])
    RequestFactory.create_batch(2, requester=holder.request.requester)
    assert ask(other).json["error"] == "too_many_pending_requests"


@pytest.mark.parametrize("verb", ["reject", "cancel"])
def test_a_request_that_is_not_approved_changes_nothing(holder: Any, verb: str) -> None:
    request_id, before = ask(holder).json["id"], grant(holder)
    api = Api.as_person(SuperAdminFactory() if verb == "reject" else holder.request.requester)
    assert api.post(f"{URL}/{request_id}/{verb}", {}).status == 200
    assert grant(holder) == before
    assert HandleClaim.objects.filter(handle=holder.account.handle).exists()
    refused = decide(request_id)
    assert (refused.status, refused.json["error"]) == (409, "request_not_pending")


@pytest.mark.parametrize(
    "sent", [{"scopes": ["react"]}, {"scopes": [], "communityIds": []}, {"communityIds": ["first"]}]
)
def test_an_approval_grants_something_and_no_more_than_was_asked(holder: Any, sent: dict[str, Any]) -> None:
    if "first" in sent.get("communityIds", ()):
        sent = {"communityIds": [str(CommunityFactory().pk)]}
    request_id, before = ask(holder).json["id"], grant(holder)
    assert decide(request_id, **sent).status == 400
    assert grant(holder) == before


def test_a_token_can_be_created_by_an_approved_request(holder: Any) -> None:
    request_id = ask(holder).json["id"]
    api = Api.as_person(holder.request.requester)
    assert api.post(f"{URL}/{request_id}/token", {}).json["error"] == "request_not_approved"
    decide(request_id)
    assert api.post(f"{URL}/{request_id}/token", {}).status == 201
    assert AgentToken.objects.filter(agent=holder.agent).count() == 2


def test_a_deletion_of_the_agent_cancels_its_request(holder: Any) -> None:
    request_id = ask(holder).json["id"]
    Api.as_person(holder.request.requester).delete(f"/v1/agents/{holder.account.handle}")
    assert AgentRequest.objects.get(pk=request_id).status == "cancelled"


def test_an_undone_approval_takes_back_what_it_added(holder: Any) -> None:
    request_id, before = ask(holder, communityIds=[]).json["id"], grant(holder)
    decide(request_id)
    undone = undo_decision(request_id=request_id, by=SuperAdminFactory())
    assert (undone.status, grant(holder)) == ("pending", before)
    assert decide(request_id).status == 200


def test_an_undo_leaves_the_agent_narrowed(holder: Any) -> None:
    boss, request_id = SuperAdminFactory(), ask(holder, scopes=["quote", "react"]).json["id"]
    decide(request_id)
    narrow_agent(agent=holder.agent, by=boss, scopes=["reply", "react"])
    undo_decision(request_id=request_id, by=boss)
    assert grant(holder)[0] == ["reply"]


def test_what_cannot_be_undone(holder: Any) -> None:
    boss, first = SuperAdminFactory(), ask(holder).json["id"]
    reject_request(request_id=first, by=boss)
    second = ask(holder).json["id"]
    with pytest.raises(WideningPending):
        undo_decision(request_id=first, by=boss)
    decide(second)
    AgentRequest.objects.filter(pk=second).update(decided_at=F("decided_at") - timedelta(seconds=31))
    with pytest.raises(UndoTooLate):
        undo_decision(request_id=second, by=boss)


@pytest.mark.django_db(transaction=True)
def test_two_requests_at_once_are_one(holder: Any) -> None:
    answers = race(2, lambda _: ask(holder))
    assert sorted(answer.status for answer in answers) == [201, 409]
