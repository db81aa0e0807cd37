"""The admin of agent requests: the queue of pending ones and the pages that decide them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from agents.models import Agent, AgentRequest
from agents.services import approve_request, reject_request, request_widening
from messaging.models import Account
from tests.admin.bystanders import Unchanged
from tests.admin.pages import decide, decide_on_many, page, read, rows_of
from tests.agents.factories import ApprovedFactory, RequestFactory, agent_with_token
from tests.agents.racing import race
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.faults.failing import failing

pytestmark = pytest.mark.django_db


def aged(request: AgentRequest, days: int) -> AgentRequest:
    AgentRequest.objects.filter(pk=request.pk).update(created_at=timezone.now() - timedelta(days=days))
    request.refresh_from_db()
    return request


def test_index_shows_the_number_and_age_of_pending_requests(admin_client: Client) -> None:
    assert "none pending" in admin_client.get("/admin/").content.decode()
    aged(RequestFactory(), 3)
    RequestFactory()
    ApprovedFactory()
    text = admin_client.get("/admin/").content.decode()
    assert "<strong>2</strong>\n<span>agent requests</span>" in text
    assert "3\xa0days" in text


def test_pending_requests_are_first_oldest_first(admin_client: Client) -> None:
    approved, younger, older = aged(ApprovedFactory(), 9), aged(RequestFactory(), 1), aged(RequestFactory(), 5)
    response = admin_client.get(page(AgentRequest, "changelist"))
    assert list(response.context["cl"].result_list) == [older, younger, approved]
    assert "5\xa0days" in response.content.decode()


def test_search_by_handle_and_name_and_filter_by_status(admin_client: Client) -> None:
    guide, other = RequestFactory(agent_handle="harbour_guide", agent_name="Guide"), ApprovedFactory()
    for query in (
        {"q": "@harbour"},
        {"q": "guide"},
        {"q": guide.requester.handle},
        {"status__exact": "pending"},
    ):
        text = read(admin_client, AgentRequest, "changelist", **query)
        assert "@harbour_guide" in text
        assert f"@{other.agent_handle}" not in text


def test_request_page_shows_the_requester_and_the_requested_grant(admin_client: Client) -> None:
    community = CommunityFactory(name="Harbour Gazette")
    agent_request = RequestFactory(
        scopes=["reply", "react"],
        community_ids=[community.pk],
        website="https://example.com/<b>",
        purpose="Translates <script>alert(1)</script> posts.\nPolitely.",
    )
    text = read(admin_client, agent_request)
    # What is asked for is said once, by the boxes of the grant.
    assert [text.count(words) for words in ("reply to posts", "react with emoji", "write posts")] == [1, 1, 0]
    assert "Requested permissions" not in text
    assert "Harbour Gazette" in text
    assert f"{agent_request.requester}</a>" in text
    assert '<a href="https://example.com/&lt;b&gt;" rel="nofollow noopener noreferrer" target="_blank">' in text
    assert "<script>alert" not in text
    assert page(agent_request, "decide") in text
    for decision in ("approve", "reject"):
        assert f'name="decision" value="{decision}"' in text


def test_website_without_http_scheme_is_not_a_link(admin_client: Client) -> None:
    agent_request = RequestFactory()
    AgentRequest.objects.filter(pk=agent_request.pk).update(website="javascript:alert(1)")
    assert 'href="javascript' not in read(admin_client, agent_request)


def test_request_page_shows_other_agents_and_requests_of_the_requester(admin_client: Client, boss: Account) -> None:
    requester = PersonFactory()
    holder = agent_with_token(requester=requester, agent_handle="first_agent")
    MessageFactory.create_batch(3, author=holder.agent.account)
    MessageFactory(author=holder.agent.account, status="hidden")
    holder.api.get("/v1/agent-tokens")
    refused = RequestFactory(requester=requester, agent_handle="bad_idea")
    reject_request(request_id=refused.pk, by=boss, reason="No crawling.")
    text = read(admin_client, RequestFactory(requester=requester))
    (row,) = [row for row in rows_of(text) if row[0] == "@first_agent"]
    assert row[2:] == ["working", "1", "4", "1", "1"]
    assert "@bad_idea for" in text
    assert "No crawling." in text


def test_request_page_lists_confusable_handles(admin_client: Client) -> None:
    PersonFactory(handle="harbour_guide", name="The real one")
    RequestFactory(agent_handle="harbourguides")
    agent_request = RequestFactory(agent_handle="harb0ur_gu1de")
    text = read(admin_client, agent_request)
    assert [row for row in rows_of(text) if len(row) == 3] == [
        ["@harbour_guide", "reads the same", "Human The real one"],
        ["@harbourguides", "one letter apart", "another pending request"],
    ]


def test_approve_grants_the_request_and_redirects_to_the_next(admin_client: Client, boss: Account) -> None:
    agent_request, following = aged(RequestFactory(), 2), aged(RequestFactory(), 1)
    assert "Select none to allow every community" in read(admin_client, agent_request, "approve")
    text = decide(admin_client, agent_request, "approve", scopes=agent_request.scopes, reason="Useful.")
    assert f"{agent_request}: approved." in text
    assert f"@{following.agent_handle}: decide" in text
    agent_request.refresh_from_db()
    assert (agent_request.status, agent_request.decided_by, agent_request.reason) == ("approved", boss, "Useful.")
    entry = LogEntry.objects.get(object_id=str(agent_request.pk))
    assert (entry.user_id, entry.change_message) == (boss.pk, "Approved (pending → approved): Useful.")
    assert "Approved (pending → approved): Useful." in read(admin_client, agent_request, "history")
    assert "approved by" in read(admin_client, agent_request)


@pytest.mark.django_db(transaction=True)
def test_an_approval_that_the_database_aborts_is_carried_out_again(admin_client: Client) -> None:
    agent_request = RequestFactory()
    with failing("40P01", times=1, change="UPDATE", table="agents_agentrequest"):
        text = decide(admin_client, agent_request, "approve", scopes=agent_request.scopes, reason="Useful.")
    assert f"{agent_request}: approved." in text
    assert (Agent.objects.count(), LogEntry.objects.count()) == (1, 1)


def test_deciding_the_last_request_redirects_to_the_list(admin_client: Client) -> None:
    agent_request = RequestFactory()
    response = admin_client.post(page(agent_request, "reject"), {"reason": "No."})
    assert response.headers["Location"] == page(AgentRequest, "changelist")


def test_approve_can_grant_a_subset_or_restrict_every_community_to_one(admin_client: Client) -> None:
    granted, withheld = CommunityFactory(), CommunityFactory()
    for asked in ([granted.pk, withheld.pk], []):
        agent_request = RequestFactory(community_ids=asked)
        decide(admin_client, agent_request, "approve", scopes=["post"], community_ids=[str(granted.pk)])
        agent_request.refresh_from_db()
        assert agent_request.community_ids == asked
        assert (agent_request.agent.scopes, agent_request.agent.community_ids) == (["post"], [granted.pk])


def test_a_widening_shows_and_grants_the_difference(admin_client: Client) -> None:
    harbour, gazette = CommunityFactory(name="Harbour"), CommunityFactory(name="Gazette")
    holder = agent_with_token(scopes=["reply"], community_ids=[harbour.pk])
    asked = request_widening(
        requester=holder.request.requester,
        agent_id=holder.agent.pk,
        purpose="It shall quote its sources too.",
        scopes=["reply", "quote", "react"],
        community_ids=[gazette.pk],
    )
    for text in (read(admin_client, asked), admin_client.get(page(AgentRequest, "changelist")).content.decode()):
        assert "scopes (+quote, +react), communities (+Gazette)" in text
        assert ('value="react"' in text, 'value="reply"' in text) == (True, False)
    assert "errorlist" in decide(admin_client, asked, "approve", scopes=["reply"])
    assert "approved" in decide(admin_client, asked, "approve", scopes=["react"], community_ids=[])
    holder.agent.refresh_from_db()
    assert (holder.agent.scopes, holder.agent.community_ids) == (["reply", "react"], [harbour.pk])
    assert "approved, narrowed" in read(admin_client, asked)


def test_a_widening_to_every_community_may_grant_some(admin_client: Client) -> None:
    harbour, gazette = CommunityFactory(), CommunityFactory()
    for chosen, expected in ([str(gazette.pk)], [harbour.pk, gazette.pk]), ([], []):
        holder = agent_with_token(scopes=["reply"], community_ids=[harbour.pk])
        asked = request_widening(
            requester=holder.request.requester,
            agent_id=holder.agent.pk,
            purpose="It shall answer everywhere.",
            scopes=["reply"],
            community_ids=[],
        )
        assert "→ all" in read(admin_client, asked)
        decide(admin_client, asked, "approve", community_ids=chosen)
        holder.agent.refresh_from_db()
        assert holder.agent.community_ids == expected


def test_approve_refuses_an_empty_or_wider_grant(admin_client: Client) -> None:
    agent_request = RequestFactory(scopes=["post", "reply"], community_ids=[CommunityFactory().pk])
    for sent in (
        *({}, {"scopes": []}, {"scopes": ["post", "fly"]}, {"scopes": ["react"]}),
        {"scopes": ["post"], "community_ids": []},
        {"scopes": ["post"], "community_ids": ["01a1f823-0f17-737b-9855-d03a72a6e849"]},
        {"scopes": ["post"], "community_ids": ["x"], "reason": "r" * 501},
    ):
        assert "errorlist" in decide(admin_client, agent_request, "approve", **sent), sent
    agent_request.refresh_from_db()
    assert agent_request.status == "pending"


def test_reject_requires_a_reason(admin_client: Client, unchanged: Unchanged) -> None:
    agent_request = RequestFactory()
    unchanged(RequestFactory())
    assert "errorlist" in decide(admin_client, agent_request, "reject", reason=" ")
    agent_request.refresh_from_db()
    assert agent_request.status == "pending"
    assert f"{agent_request}: rejected." in decide(admin_client, agent_request, "reject", reason="Not here.")
    agent_request.refresh_from_db()
    assert (agent_request.status, agent_request.reason) == ("rejected", "Not here.")


def test_bulk_reject_skips_decided_requests(admin_client: Client, boss: Account) -> None:
    requests, decided = RequestFactory.create_batch(2), ApprovedFactory()
    text = decide_on_many(admin_client, [*requests, decided], "reject", reason="Spam.")
    assert "2 agent requests: rejected." in text
    assert "request not pending (status: approved)" in text
    assert {one.status for one in AgentRequest.objects.filter(pk__in=[one.pk for one in requests])} == {"rejected"}


@pytest.mark.parametrize("is_by_api", [False, True])
def test_decided_request_cannot_be_decided_again(admin_client: Client, boss: Account, is_by_api: bool) -> None:
    agent_request = RequestFactory() if is_by_api else ApprovedFactory()
    if is_by_api:
        approve_request(request_id=agent_request.pk, by=boss)
    assert "not available in the current state" in read(admin_client, agent_request, "reject")
    assert "approved by @super" in read(admin_client, agent_request, "reject")
    for decision in ("reject", "approve"):
        text = decide(admin_client, agent_request, decision, scopes=agent_request.scopes, reason="Too late.")
        assert "Nothing was changed" in text
        assert "request not pending (status: approved)" in text
    agent_request.refresh_from_db()
    assert agent_request.status == "approved"


@pytest.mark.django_db(transaction=True)
def test_concurrent_decisions_only_one_succeeds() -> None:
    agent_request, admins = RequestFactory(), [SuperAdminFactory(), SuperAdminFactory()]

    def decide_as(number: int) -> str:
        client = Client()
        client.force_login(admins[number])
        return decide(client, agent_request, ("approve", "reject")[number], scopes=agent_request.scopes, reason="Mine.")

    texts = race(2, decide_as)
    agent_request.refresh_from_db()
    assert agent_request.status in {"approved", "rejected"}
    assert Agent.objects.count() == (agent_request.status == "approved")
    winner = admins.index(agent_request.decided_by)  # type: ignore[arg-type]
    assert f": {agent_request.status}." in texts[winner]
    assert f"request not pending (status: {agent_request.status})" in texts[1 - winner]


@pytest.mark.django_db(transaction=True)
def test_concurrent_approvals_create_one_agent() -> None:
    agent_request, admins = RequestFactory(), [SuperAdminFactory() for _ in range(4)]

    def decide_as(number: int) -> bool:
        client = Client()
        client.force_login(admins[number])
        return "Nothing was changed" in decide(client, agent_request, "approve", scopes=agent_request.scopes)

    assert sorted(race(4, decide_as)) == [False, True, True, True]
    assert Agent.objects.count() == 1
    assert LogEntry.objects.filter(object_id=str(agent_request.pk)).count() == 1
