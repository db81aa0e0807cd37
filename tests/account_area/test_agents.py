"""The pages of an operator: the list of agents, asking for one, its page, and its deletion."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from account_area.agents.queries import last_days
from account_area.agents.views.requests import check_handle
from agents.models import PENDING_MAX, Agent, AgentRequest, RefusedCall, RequestStatus
from agents.services import approve_request, freeze_agent, narrow_agent, reject_request
from messaging.models import Account
from tests.admin.bystanders import Unchanged
from tests.agents.factories import ApprovedFactory, RequestFactory, TokenHolder, agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
LIST, ASK = "/account/agents/", "/account/agents/request/"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def holder(person: Account) -> TokenHolder:
    return agent_with_token(requester=person)


def fields(**changes: Any) -> dict[str, Any]:
    return {
        "submission": str(uuid4()),
        "agent_name": "Library Helper",
        "agent_handle": "library_helper",
        "purpose": "Answers questions about our books.",
        "scopes": ["post", "reply"],
    } | changes


def text(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, path
    return str(response.content.decode())


def test_the_list_has_own_agents_and_requests_only(client: Client, holder: TokenHolder, person: Account) -> None:
    assert f'href="{ASK}"' in text(client, LIST)
    pending = RequestFactory(requester=person)
    others = [agent_with_token().account.handle, RequestFactory().agent_handle]
    shown = text(client, LIST)
    assert f"@{holder.account.handle}" in shown
    assert f"@{pending.agent_handle}" in shown
    assert not any(handle in shown for handle in others)


def test_asking_leads_to_the_page_of_the_request(client: Client, person: Account) -> None:
    community = CommunityFactory(name="Readers")
    sent = fields(communities=[str(community.pk)], website="https://example.com/agent")
    response = client.post(ASK, sent)
    asked = AgentRequest.objects.get()
    assert (response.status_code, response["Location"]) == (302, f"/account/agents/requests/{asked.pk}/")
    assert (asked.requester, asked.scopes, asked.community_ids) == (person, ["post", "reply"], [community.pk])
    shown = text(client, response["Location"])
    assert "Readers" in shown
    assert "Withdraw" in shown


def test_a_form_sent_twice_asks_once(client: Client) -> None:
    sent = fields()
    first, second = client.post(ASK, sent), client.post(ASK, sent)
    assert first["Location"] == second["Location"]
    assert AgentRequest.objects.count() == 1


def test_a_bad_field_is_shown_in_the_form(client: Client) -> None:
    bad: dict[str, Any] = {
        "agent_name": ["", "x", "A\u202eb"],
        "agent_handle": ["Not valid", "ab", "é" * 5],
        "purpose": ["Too short.", " " * 40, "x" * 2001],
        "website": ["javascript:alert(1)", "https://user@example.com"],
        "scopes": [[], ["admin"]],
        "communities": [["018f0000-0000-7000-8000-000000000000"], ["nonsense"]],
        "submission": ["nonsense"],
    }
    for field, value in ((field, value) for field, values in bad.items() for value in values):
        response = client.post(ASK, fields(**{field: value}))
        assert response.status_code == 200
        assert b"errorlist" in response.content or field == "submission", (field, value)
    assert not AgentRequest.objects.exists()


def test_a_taken_handle_is_shown_on_its_field(client: Client, holder: TokenHolder) -> None:
    response = client.post(ASK, fields(agent_handle=holder.account.handle))
    assert "already in use" in response.context["form"].errors["agent_handle"][0]
    assert b"Answers questions about our books." in response.content


def test_a_fourth_pending_request_and_nul_are_refused(client: Client, person: Account) -> None:
    RequestFactory.create_batch(PENDING_MAX, requester=person)
    assert client.post(ASK, fields()).context["form"].non_field_errors()
    assert client.post(ASK, fields(purpose="x" * 30 + "\x00")).status_code == 400
    assert client.get(LIST, {"before": "\x00"}).status_code == 400
    assert AgentRequest.objects.count() == PENDING_MAX


def test_communities_are_found_by_name_and_selected_ones_stay(client: Client) -> None:
    """Without a script, the search sends the form, which is shown again and asks for nothing."""
    chosen, found = CommunityFactory(name="Chosen"), CommunityFactory(name="Garden friends")
    CommunityFactory.create_batch(15)
    sent = fields(communities=[str(chosen.pk)], find="1", search="garden", purpose="")
    response = client.post(ASK, sent)
    offered = dict(response.context["form"].fields["communities"].choices)
    assert offered == {str(chosen.pk): f"Chosen ({chosen.slug})", str(found.pk): f"Garden friends ({found.slug})"}
    assert b"errorlist" not in response.content
    assert not AgentRequest.objects.exists()
    answer = client.get("/account/agents/community-search/", {"q": "garden"}).json()
    assert answer == {"communities": [{"id": str(found.pk), "name": f"Garden friends ({found.slug})"}]}


def test_checks_of_handles_are_throttled(client: Client, settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"account_page": (2, 60)}
    answers = [client.get("/account/agents/handle-check/", {"handle": "free_one"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]


def test_handle_is_checked_while_it_is_typed(client: Client) -> None:
    PersonFactory(handle="taken_one")
    states = {"": "empty", "No": "invalid", "taken_one": "taken", "taken_0ne": "similar", "free_one": "free"}
    for handle, state in states.items():
        answer = client.get("/account/agents/handle-check/", {"handle": handle}).json()
        assert (answer, answer["state"]) == (check_handle(handle), state)


def test_a_pending_request_can_be_withdrawn_once(client: Client, person: Account, unchanged: Unchanged) -> None:
    asked = RequestFactory(requester=person)
    unchanged(RequestFactory(requester=person))
    path = f"/account/agents/requests/{asked.pk}/"
    assert "Withdraw" in text(client, f"{path}withdraw/")
    assert client.post(f"{path}withdraw/")["Location"] == path
    assert "The request is withdrawn." in text(client, path)
    asked.refresh_from_db()
    assert asked.status == RequestStatus.CANCELLED
    assert client.post(f"{path}withdraw/").status_code == 409
    assert "withdraw/" not in text(client, path)


def test_the_page_of_a_decided_request_has_reason_and_next_step(client: Client, person: Account) -> None:
    approved, rejected = (RequestFactory(requester=person) for _ in range(2))
    approve_request(request_id=approved.pk, by=SuperAdminFactory(), reason="Welcome.")
    reject_request(request_id=rejected.pk, by=SuperAdminFactory(), reason=HOSTILE)
    shown = text(client, f"/account/agents/requests/{approved.pk}/")
    assert ("Welcome." in shown, "Write posts" in shown) == (True, True)
    assert f"/account/agents/{approved.agent_handle}/tokens/new/" in shown
    shown = text(client, f"/account/agents/requests/{rejected.pk}/")
    assert "&lt;script&gt;" in shown
    assert "tokens/new" not in shown


@pytest.mark.parametrize(
    ("scopes", "granted"), [(["reply"], "Reply"), (None, "Write posts, Reply, Quote, React")], ids=["both", "place"]
)
def test_page_inbox_and_record_say_that_less_was_granted(
    client: Client, person: Account, scopes: list[str] | None, granted: str
) -> None:
    community = CommunityFactory(name="Harbour")
    whole, narrowed = (RequestFactory(requester=person) for _ in range(2))
    approve_request(request_id=whole.pk, by=SuperAdminFactory())
    approve_request(request_id=narrowed.pk, by=SuperAdminFactory(), scopes=scopes, community_ids=[community.pk])
    asked = "Write posts, Reply, Quote, React (all communities)"
    inbox, page = text(client, "/account/inbox/"), text(client, f"/account/agents/requests/{narrowed.pk}/")
    for shown in (inbox, page):
        assert f'<dt>Asked for</dt><dd dir="auto">{asked}</dd>' in shown
        assert f'<dt>Granted</dt><dd dir="auto">{granted} (Harbour)</dd>' in shown
        assert shown.count("less than was asked") == 1
    assert "Granted</dt>" not in text(client, f"/account/agents/requests/{whole.pk}/")
    records = {row["id"]: row for row in Api.as_person(person).get("/v1/agent-tokens/requests").json["requests"]}
    assert records[str(narrowed.pk)]["grantedScopes"] == (scopes or narrowed.scopes)
    assert records[str(narrowed.pk)]["grantedCommunityIds"] == [str(community.pk)]
    assert records[str(whole.pk)]["grantedScopes"] == whole.scopes
    pending = RequestFactory(requester=person)
    shown = Api.as_person(person).get(f"/v1/agent-tokens/requests/{pending.pk}").json
    assert (shown["grantedScopes"], shown["grantedCommunityIds"]) == (None, None)


def test_the_page_of_an_agent_shows_what_holds(client: Client, person: Account) -> None:
    lost, left = CommunityFactory(name="Lost"), CommunityFactory(name="Left")
    holder = agent_with_token(requester=person, scopes=["post", "react"], community_ids=[lost.pk, left.pk])
    boss = SuperAdminFactory()
    narrow_agent(agent=holder.agent, by=boss, scopes=["post"], community_ids=[left.pk], reason="Too many emoji.")
    freeze_agent(agent=holder.agent, by=boss, reason="Wait for us.")
    holder.api.get("/v1/agent/self")
    MessageFactory(author=holder.account, content=HOSTILE)
    shown = text(client, f"/account/agents/{holder.account.handle}/")
    for part in ("<s><bdi>Lost</bdi></s>", "<bdi>Left</bdi>", "<s>React</s>", "Too many emoji.", "Wait for us."):
        assert part in shown
    assert f"@{boss.handle}" in shown
    assert "agent_suspended" in shown
    assert "&lt;script&gt;" in shown
    assert HOSTILE not in shown


def test_the_page_says_what_is_left_of_the_hour_and_plots_the_last_days(client: Client, holder: TokenHolder) -> None:
    post = MessageFactory()
    holder.api.post("/v1/reactions", {"messageId": str(post.pk), "emoji": "👍"})
    shown = text(client, f"/account/agents/{holder.account.handle}/")
    assert shown.count("30 of 30") == 3
    assert "119 of 120" in shown
    MessageFactory.create_batch(3, author=holder.account)
    first, *_, today = last_days()
    for day, calls in ((first - timedelta(days=1), 100), (first, 3), (today, 4)):
        RefusedCall.objects.create(agent=holder.agent, day=day, code="agent_rate_limited", calls=calls)
    response = client.get(f"/account/agents/{holder.account.handle}/")
    assert response.context["written"].series[0].total == 3
    assert response.context["refused"].series[0].total == 7
    assert response.context["refused_codes"] == [("agent_rate_limited", 7)]


def test_deletion_needs_the_handle(client: Client, holder: TokenHolder, person: Account, unchanged: Unchanged) -> None:
    other = agent_with_token(requester=person)
    unchanged(other.agent, other.token)
    path, handle = f"/account/agents/{holder.account.handle}/", holder.account.handle
    assert client.post(f"{path}delete/", {"handle": "another"}).status_code == 200
    assert Agent.objects.live().count() == 2
    assert client.post(f"{path}delete/", {"handle": f"@{handle}"})["Location"] == LIST
    assert [each.api.get("/v1/agent/self").status for each in (holder, other)] == [401, 200]
    assert client.get(path).status_code == 404
    assert client.post(f"{path}delete/", {"handle": handle}).status_code == 404
    assert f"@{handle}" not in text(client, LIST).replace(f"@{handle} is deleted", "")


def test_an_agent_called_request_has_a_page(client: Client, person: Account) -> None:
    ApprovedFactory(requester=person, agent_handle="request")
    assert 'href="/account/agents/@request/"' in text(client, LIST)
    assert "@request" in text(client, "/account/agents/@request/")


def test_the_list_goes_on_page_by_page(client: Client, person: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("account_area.agents.queries.AGENTS_SHOWN", 2)
    handles = [ApprovedFactory(requester=person).agent_handle for _ in range(5)]
    found, path = [], LIST
    for _ in range(3):
        response = client.get(path)
        found += [agent.account.handle for agent in response.context["agents"]]
        path = f"{LIST}?before={response.context['next_before']}"
    assert found == handles[::-1]
    assert client.get(LIST, {"before": "nonsense"}).status_code == 404


def test_pages_need_a_fixed_number_of_queries(
    client: Client, person: Account, django_assert_max_num_queries: Any
) -> None:
    few = agent_with_token(requester=person)
    many = agent_with_token(requester=person, community_ids=[each.pk for each in CommunityFactory.create_batch(15)])
    for _ in range(8):
        MessageFactory(author=many.account)
        RefusedCall.objects.create(agent=many.agent, day=timezone.now().date(), code=f"code_{uuid4()}", calls=1)
    client.get(f"/account/agents/{few.account.handle}/")
    for holder in (few, many):
        with django_assert_max_num_queries(12):
            client.get(f"/account/agents/{holder.account.handle}/")
    for _ in range(2):
        with django_assert_max_num_queries(5):
            client.get(LIST)
        for _ in range(5):
            agent_with_token(requester=person)


def widening(**changes: Any) -> dict[str, Any]:
    return {"submission": str(uuid4()), "purpose": "It shall quote its sources too."} | changes


def test_asking_for_more_rights(client: Client, person: Account) -> None:
    harbour, gazette = (CommunityFactory(name=name) for name in ("Harbour", "Gazette"))
    holder = agent_with_token(requester=person, scopes=["reply"], community_ids=[harbour.pk])
    page = f"{LIST}{holder.account.handle}/"
    assert f'href="{page}widen/"' in text(client, page)
    form = text(client, f"{page}widen/")
    assert (f'value="{gazette.pk}"' in form, f'value="{harbour.pk}"' in form) == (True, False)
    assert 'value="reply"' not in form
    assert client.post(f"{page}widen/", widening()).status_code == 200
    assert not AgentRequest.objects.filter(widens=holder.agent).exists()
    sent = widening(scopes=["quote"], communities=[str(gazette.pk)])
    location = client.post(f"{page}widen/", sent).headers["Location"]
    # The same form again is the same request.
    assert client.post(f"{page}widen/", sent).headers["Location"] == location
    shown = text(client, location)
    assert all(words in shown for words in ("More rights", "Quote", "Gazette"))
    assert ("Harbour" in shown, "Create its token" in shown) == (False, False)
    assert "waits for a decision" in text(client, page)
    assert "More rights" in text(client, LIST)
    assert "waits for a decision already" in client.post(f"{page}widen/", widening(scopes=["post"])).content.decode()
    approve_request(request_id=AgentRequest.objects.get(widens=holder.agent).pk, by=SuperAdminFactory(), scopes=[])
    assert "may do less" not in text(client, page)
    inbox = text(client, "/account/inbox/")
    assert all(words in inbox for words in ("The request for more rights of", "is approved, for less than was asked"))
    assert "Gazette" in text(client, page)
    assert "All its tokens have the new rights." in text(client, location)


def test_asking_for_every_community(client: Client, person: Account) -> None:
    holder = agent_with_token(requester=person, scopes=["reply"], community_ids=[CommunityFactory().pk])
    client.post(f"{LIST}{holder.account.handle}/widen/", widening(every_community="on"))
    asked = AgentRequest.objects.get(widens=holder.agent)
    approve_request(request_id=asked.pk, by=SuperAdminFactory())
    holder.agent.refresh_from_db()
    assert (holder.agent.scopes, holder.agent.community_ids) == (["reply"], [])


def test_more_rights_of_anothers_agent_cannot_be_asked_for(client: Client) -> None:
    handle = agent_with_token().account.handle
    assert client.post(f"{LIST}{handle}/widen/", widening(scopes=["post"])).status_code == 404
    assert not AgentRequest.objects.exclude(widens=None).exists()
