"""The queue of agent requests and the page that a request is decided on."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from agents.models import Agent, AgentRequest
from agents.services import approve_request, reject_request
from messaging.models import Account
from tests.admin.pages import decide, decide_on_many, page, read, rows_of
from tests.agents.factories import ApprovedFactory, RequestFactory, agent_with_token
from tests.agents.racing import race
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


def aged(request: AgentRequest, days: int) -> AgentRequest:
    AgentRequest.objects.filter(pk=request.pk).update(created_at=timezone.now() - timedelta(days=days))
    request.refresh_from_db()
    return request


def test_the_first_page_tells_how_many_wait_and_since_when(admin_client: Client) -> None:
    assert "nothing waits" in admin_client.get("/admin/").content.decode()
    aged(RequestFactory(), 3)
    RequestFactory()
    ApprovedFactory()
    text = admin_client.get("/admin/").content.decode()
    assert "<strong>2</strong>\n<span>agent requests</span>" in text
    assert "3\xa0days" in text


def test_what_is_pending_comes_first_the_oldest_at_the_top(admin_client: Client) -> None:
    done, young, old = aged(ApprovedFactory(), 9), aged(RequestFactory(), 1), aged(RequestFactory(), 5)
    answer = admin_client.get(page(AgentRequest, "changelist"))
    assert list(answer.context["cl"].result_list) == [old, young, done]
    assert "5\xa0days" in answer.content.decode()


def test_search_and_filter(admin_client: Client) -> None:
    asked, other = RequestFactory(agent_handle="harbour_guide", agent_name="Guide"), ApprovedFactory()
    for query in ({"q": "@harbour"}, {"q": "guide"}, {"q": asked.requester.handle}, {"status__exact": "pending"}):
        text = read(admin_client, AgentRequest, "changelist", **query)
        assert "@harbour_guide" in text
        assert f"@{other.agent_handle}" not in text


def test_the_page_says_who_asks_for_what(admin_client: Client) -> None:
    community = CommunityFactory(name="Harbour Gazette")
    asked = RequestFactory(
        scopes=["reply", "react"],
        community_ids=[community.pk],
        website="https://example.com/<b>",
        purpose="Translates <script>alert(1)</script> posts.\nPolitely.",
    )
    text = read(admin_client, asked)
    assert "reply to posts, react with emoji" in text
    assert "Harbour Gazette" in text
    assert f"{asked.requester}</a>" in text
    assert '<a href="https://example.com/&lt;b&gt;" rel="nofollow noopener noreferrer" target="_blank">' in text
    assert "<script>alert" not in text
    assert page(asked, "approve") in text
    assert page(asked, "reject") in text


def test_a_website_that_is_none_is_no_link(admin_client: Client) -> None:
    asked = RequestFactory()
    AgentRequest.objects.filter(pk=asked.pk).update(website="javascript:alert(1)")
    assert 'href="javascript' not in read(admin_client, asked)


def test_the_page_shows_the_requesters_other_agents_and_requests(admin_client: Client, boss: Account) -> None:
    requester = PersonFactory()
    held = agent_with_token(requester=requester, agent_handle="first_agent")
    MessageFactory.create_batch(3, author=held.agent.account)
    MessageFactory(author=held.agent.account, status="hidden")
    held.api.get("/v1/agent-tokens")
    refused = RequestFactory(requester=requester, agent_handle="bad_idea")
    reject_request(request_id=refused.pk, by=boss, reason="No crawling.")
    text = read(admin_client, RequestFactory(requester=requester))
    (row,) = [row for row in rows_of(text) if row[0] == "@first_agent"]
    assert row[2:] == ["working", "1", "4", "1", "1"]
    assert "@bad_idea for" in text
    assert "No crawling." in text


def test_the_page_warns_of_handles_that_look_alike(admin_client: Client) -> None:
    PersonFactory(handle="harbour_guide", name="The real one")
    RequestFactory(agent_handle="harbourguides")
    asked = RequestFactory(agent_handle="harb0ur_gu1de")
    text = read(admin_client, asked)
    assert [row for row in rows_of(text) if len(row) == 3] == [
        ["@harbour_guide", "reads the same", "Human The real one"],
        ["@harbourguides", "one letter apart", "another waiting request"],
    ]


def test_approve_as_asked_then_the_next_one(admin_client: Client, boss: Account) -> None:
    asked, following = aged(RequestFactory(), 2), aged(RequestFactory(), 1)
    assert "Every community, unless" in read(admin_client, asked, "approve")
    text = decide(admin_client, asked, "approve", scopes=asked.scopes, reason="Useful.")
    assert f"{asked}: approved." in text
    assert f"@{following.agent_handle}: decide" in text
    asked.refresh_from_db()
    assert (asked.status, asked.decided_by, asked.reason) == ("approved", boss, "Useful.")
    entry = LogEntry.objects.get(object_id=str(asked.pk))
    assert (entry.user_id, entry.change_message) == (boss.pk, "Approved: Useful.")
    assert "Approved: Useful." in read(admin_client, asked, "history")
    assert "approved by" in read(admin_client, asked)


def test_after_the_last_one_comes_the_list(admin_client: Client) -> None:
    asked = RequestFactory()
    answer = admin_client.post(page(asked, "reject"), {"reason": "No."})
    assert answer.headers["Location"] == page(AgentRequest, "changelist")


def test_approve_with_less(admin_client: Client) -> None:
    kept, taken = CommunityFactory(), CommunityFactory()
    asked = RequestFactory(community_ids=[kept.pk, taken.pk])
    decide(admin_client, asked, "approve", scopes=["post"], community_ids=[str(kept.pk)])
    agent = Agent.objects.get()
    assert (agent.scopes, agent.community_ids) == (["post"], [kept.pk])
    asked.refresh_from_db()
    assert asked.community_ids == [kept.pk, taken.pk]


def test_approve_for_one_community_of_all(admin_client: Client) -> None:
    community, asked = CommunityFactory(), RequestFactory()
    decide(admin_client, asked, "approve", scopes=asked.scopes, community_ids=[str(community.pk)])
    assert Agent.objects.get().community_ids == [community.pk]


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"scopes": []},
        {"scopes": ["post", "fly"]},
        {"scopes": ["react"]},
        {"scopes": ["post"], "community_ids": []},
        {"scopes": ["post"], "community_ids": ["01a1f823-0f17-737b-9855-d03a72a6e849"]},
        {"scopes": ["post"], "community_ids": ["x"], "reason": "r" * 501},
    ],
)
def test_approve_never_grants_more_or_nothing(admin_client: Client, sent: dict[str, Any]) -> None:
    asked = RequestFactory(scopes=["post", "reply"], community_ids=[CommunityFactory().pk])
    text = decide(admin_client, asked, "approve", **sent)
    assert "errorlist" in text
    asked.refresh_from_db()
    assert asked.status == "pending"


def test_reject_needs_a_reason(admin_client: Client) -> None:
    asked = RequestFactory()
    assert "errorlist" in decide(admin_client, asked, "reject", reason=" ")
    asked.refresh_from_db()
    assert asked.status == "pending"
    assert f"{asked}: rejected." in decide(admin_client, asked, "reject", reason="Not here.")
    asked.refresh_from_db()
    assert (asked.status, asked.reason) == ("rejected", "Not here.")


def test_reject_many(admin_client: Client, boss: Account) -> None:
    asked, decided = RequestFactory.create_batch(2), ApprovedFactory()
    text = decide_on_many(admin_client, [*asked, decided], "reject", reason="Spam.")
    assert "2 agent requests: rejected." in text
    assert "request not pending (status: approved)" in text
    assert {one.status for one in AgentRequest.objects.filter(pk__in=[one.pk for one in asked])} == {"rejected"}


def test_a_late_decision_is_told_not_made(admin_client: Client) -> None:
    asked = ApprovedFactory()
    assert "cannot be done any more" in read(admin_client, asked, "reject")
    assert "approved by @super" in read(admin_client, asked, "reject")
    text = decide(admin_client, asked, "reject", reason="Too late.")
    assert "Nothing was changed" in text
    assert "request not pending (status: approved)" in text
    asked.refresh_from_db()
    assert asked.status == "approved"


@pytest.mark.django_db(transaction=True)
def test_two_super_admins_at_once() -> None:
    asked, admins = RequestFactory(), [SuperAdminFactory(), SuperAdminFactory()]

    def go(number: int) -> str:
        client = Client()
        client.force_login(admins[number])
        return decide(client, asked, ("approve", "reject")[number], scopes=asked.scopes, reason="Mine.")

    texts = race(2, go)
    asked.refresh_from_db()
    assert asked.status in {"approved", "rejected"}
    assert Agent.objects.count() == (asked.status == "approved")
    winner = admins.index(asked.decided_by)  # type: ignore[arg-type]
    assert f": {asked.status}." in texts[winner]
    assert f"request not pending (status: {asked.status})" in texts[1 - winner]


@pytest.mark.django_db(transaction=True)
def test_two_super_admins_approve_at_once() -> None:
    asked, admins = RequestFactory(), [SuperAdminFactory() for _ in range(4)]

    def go(number: int) -> bool:
        client = Client()
        client.force_login(admins[number])
        return "Nothing was changed" in decide(client, asked, "approve", scopes=asked.scopes)

    assert sorted(race(4, go)) == [False, True, True, True]
    assert Agent.objects.count() == 1
    assert LogEntry.objects.filter(object_id=str(asked.pk)).count() == 1


def test_the_api_decides_by_the_same_rules(admin_client: Client, boss: Account) -> None:
    asked = RequestFactory()
    approve_request(request_id=asked.pk, by=boss)
    assert "Nothing was changed" in decide(admin_client, asked, "approve", scopes=asked.scopes)
