"""Deciding in the lists of the admin: as JSON for the script and as redirects, saved lists, CSV, look-alikes."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test import RequestFactory as WebRequests
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.admin.look_alikes import look_alikes_of, series_base
from agents.models import Agent, AgentRequest, RefusedCall
from agents.services import create_token, reject_request
from kernel.admin.changelists import return_url, returning
from messaging.accounts.services import suspend_person
from messaging.models import Account, Ban, Decision, Message, SavedList
from messaging.models.desk import SAVED_MAX
from messaging.moderation.services import approve_message, hide_message, restore_message
from tests.admin.bystanders import Unchanged
from tests.admin.pages import page, read
from tests.agents.factories import ApprovedFactory, RequestFactory, agent_with_token
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
FILTERS = {"_changelist_filters": "status__exact=pending&p=1"}
QUERY = "status__exact=pending&q=herring"


def decide_json(client: Client, row: Any, decision: str, **sent: Any) -> tuple[int, dict[str, Any]]:
    headers = {"Accept": "application/json"}
    response = client.post(page(row, "decide"), {"decision": decision} | sent, headers=headers)
    return response.status_code, response.json()


def link_of_undo(client: Client, post: Message, decision: str, *, in_list: bool) -> str:
    """Decide on a post, as an action of the list or on its page, and return the link of the message after it."""
    if in_list:
        sent = {"action": decision, "_selected_action": [str(post.pk)], "confirmed": "1", "reason": "Mine."}
        url = page(Message, "changelist")
    else:
        sent, url = {"decision": decision, "reason": "Mine."}, page(post, "decide")
    shown = client.post(url, sent, follow=True).content.decode()
    return unescape(re.findall(r'<a href="([^"]+)">Undo…</a>', shown)[0])


def decided_fields(client: Client, url: str) -> dict[str, str]:
    """The times of decisions that the form of a confirmation page sends."""
    form = client.get(url).content.decode()
    return dict(re.findall(r'<input type="hidden" name="(decided[^"]+)" value="([^"]+)"', form))


def send_form_at(client: Client, url: str) -> str:
    """The page after a confirmation page."""
    return str(client.post(url, {"reason": "", **decided_fields(client, url)}, follow=True).content.decode())


def test_the_list_shows_what_a_decision_needs(admin_client: Client) -> None:
    PersonFactory(handle="harbour_guide")
    community = CommunityFactory(name="Harbour Gazette")
    request = RequestFactory(
        agent_handle="harb0ur_guide", agent_name="The Guide", purpose="p" * 300, community_ids=[community.pk]
    )
    for n in range(2):
        RequestFactory(requester=request.requester, agent_handle=f"no_{n}_x")
        reject_request(
            request_id=AgentRequest.objects.latest("created_at").pk, by=SuperAdminFactory(), reason="No crawling."
        )
    text = read(admin_client, AgentRequest, "changelist", status__exact="pending")
    for part in (
        *("The Guide", "p" * 300, "Harbour Gazette", "@harbour_guide reads the same", "new account"),
        *("2 rejected requests", "Pending (1)", "Rejected (2)", f'id="row-{request.pk}"', "The handle can be mistaken"),
    ):
        assert part in text, part


def test_approve_in_the_list_grants_what_the_row_offers(
    admin_client: Client, boss: Account, unchanged: Unchanged
) -> None:
    granted, denied, other = CommunityFactory(), CommunityFactory(), ApprovedFactory()
    unchanged(other, other.agent, RequestFactory())
    request = RequestFactory(community_ids=[granted.pk, denied.pk])
    sent = {"scopes": ["post"], "community_ids": [str(granted.pk)], "reason": ""}
    status, answer = decide_json(admin_client, request, "approve", **sent)
    assert (status, answer["state"], answer["kind"], answer["undo"]) == (200, "approved, narrowed", "good", "undo")
    of_both = f"asked: post, reply, quote, react in {granted.name}, {denied.name}"
    for shown in (answer["text"], read(admin_client, AgentRequest, "changelist"), read(admin_client, request)):
        assert f"{of_both}; granted: post in {granted.name}" in shown
    assert f"{request}: approved, narrowed</span>" in read(admin_client, RequestFactory())
    assert "asked: post" not in read(admin_client, other)
    agent = Agent.objects.exclude(pk=other.agent.pk).get()
    assert (agent.scopes, agent.community_ids) == (["post"], [granted.pk])
    assert LogEntry.objects.get(object_id=str(request.pk)).user_id == boss.pk
    status, answer = decide_json(admin_client, request, "undo", reason="")
    assert (status, answer["state"], answer["undo"]) == (200, "pending", "")
    assert Agent.objects.get() == other.agent


def test_a_refused_decision_changes_nothing_and_says_why(admin_client: Client) -> None:
    request = RequestFactory()
    for decision, sent, status in (
        ("reject", {"reason": " "}, 400),
        ("approve", {}, 400),
        ("approve", {"scopes": ["fly"]}, 400),
        ("nonsense", {"reason": "x"}, 400),
        ("", {}, 400),
        ("undo", {"reason": ""}, 409),
    ):
        got, answer = decide_json(admin_client, request, decision, **sent)
        assert (got, bool(answer["error"])) == (status, True), (decision, sent)
    assert admin_client.get(page(request, "decide"), {"decision": "reject", "reason": "x"}).status_code == 405
    request.refresh_from_db()
    assert request.status == "pending"
    assert not LogEntry.objects.exists()


def test_an_undo_that_is_refused_offers_to_freeze_the_agent(admin_client: Client) -> None:
    in_use, late = ApprovedFactory(), ApprovedFactory()
    create_token(request_id=in_use.pk, by=in_use.requester)
    AgentRequest.objects.filter(pk=late.pk).update(decided_at=F("decided_at") - timedelta(minutes=1))
    for request in (in_use, late):
        status, answer = decide_json(admin_client, request, "undo", reason="")
        assert (status, answer["instead"]["url"]) == (409, f"/admin/agents/agent/{request.agent_id}/freeze/")
        text = admin_client.post(page(request, "decide"), {"decision": "undo"}, follow=True).content.decode()
        assert "Freeze the agent…" in text


def test_filters_and_place_survive_a_decision(admin_client: Client) -> None:
    first, second = RequestFactory(), RequestFactory()
    listed = page(AgentRequest, "changelist")
    text = read(admin_client, AgentRequest, "changelist", status__exact="pending")
    assert f"{page(first, 'decide')}?_changelist_filters=status__exact%3Dpending" in text
    url = f"{page(first, 'decide')}?_changelist_filters=status__exact%3Dpending"
    sent = {"decision": "reject", "reason": "No.", "from_list": "1", "next": str(second.pk)}
    location = admin_client.post(url, sent)["Location"]
    assert location == f"{listed}?status__exact=pending#row-{second.pk}"
    refused = admin_client.post(url, sent)["Location"]
    assert refused == f"{listed}?status__exact=pending#row-{first.pk}"
    hostile = admin_client.post(url, sent | {"next": "//evil.example"})["Location"]
    assert hostile.startswith(listed)


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_filters_survive_the_pages_of_rows_and_actions(admin_client: Client, decision: str) -> None:
    request, following = RequestFactory(), RequestFactory()
    filters = "_changelist_filters=status__exact%3Dpending"
    assert f"{page(request, 'decide')}?{filters}" in admin_client.get(f"{page(request)}?{filters}").content.decode()
    sent = {"reason": "x", "scopes": request.scopes}
    for url, body in (
        (page(request, decision), sent),
        (page(following, "decide"), sent | {"decision": decision}),
    ):
        location = urlsplit(admin_client.post(f"{url}?{filters}", body)["Location"])
        query = parse_qs(location.query)
        assert query.get("_changelist_filters", query.get("status__exact")) in (["status__exact=pending"], ["pending"])


def test_the_list_offers_to_undo_the_own_latest_decision(admin_client: Client, boss: Account) -> None:
    RequestFactory()
    reject_request(request_id=RequestFactory().pk, by=SuperAdminFactory(), reason="By another.")
    assert "recent-decision" not in read(admin_client, AgentRequest, "changelist")
    own = reject_request(request_id=RequestFactory().pk, by=boss, reason="Mine.")
    assert f"{own}: rejected" in read(admin_client, AgentRequest, "changelist")
    AgentRequest.objects.filter(pk=own.pk).update(decided_at=F("decided_at") - timedelta(minutes=1))
    assert "recent-decision" not in read(admin_client, AgentRequest, "changelist")


def test_a_page_that_is_emptied_leads_to_the_last_one_with_its_filters(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.admin.AgentRequestAdmin.list_per_page", 2)
    requests = [RequestFactory() for _ in range(5)]
    url = f"{page(requests[-1], 'decide')}?_changelist_filters=status__exact%3Dpending%26p%3D3"
    sent = {"decision": "reject", "reason": "No.", "from_list": "1"}
    response = admin_client.post(url, sent, follow=True)
    assert response.redirect_chain == [(f"{page(AgentRequest, 'changelist')}?status__exact=pending&p=3", 302)]
    changes = response.context["cl"]
    assert ([row.pk for row in changes.result_list], changes.page_num) == ([row.pk for row in requests[2:4]], 2)
    for number in ("0", "-1"):
        assert f'id="row-{requests[0].pk}"' in read(admin_client, AgentRequest, "changelist", p=number)


def test_the_next_pending_row_is_one_of_the_filtered_list(admin_client: Client) -> None:
    first, other, last = (RequestFactory(agent_handle=handle) for handle in ("herring_1", "unrelated", "herring_2"))
    posts = [MessageFactory(status="pending", content=content) for content in ("Herring", "Unrelated", "Herrings")]
    for rows, decision in (((first, other, last), "reject"), (posts, "hide")):
        listed = page(type(rows[0]), "changelist")
        filters = "_changelist_filters=" + quote("status__exact=pending&q=herring", safe="")
        assert f"{page(rows[2])}?{filters}" in admin_client.get(f"{page(rows[0])}?{filters}").content.decode()
        sent = {"decision": decision, "reason": "No."}
        first_place = admin_client.post(f"{page(rows[0], 'decide')}?{filters}", sent)["Location"]
        assert first_place == f"{page(rows[2])}?{filters}"
        second_place = admin_client.post(f"{page(rows[2], decision)}?{filters}", sent)["Location"]
        # None is left in the list: the link of the page leads to the rest of the queue.
        assert second_place.startswith((listed, page(rows[2])))
        invalid = f"_changelist_filters={quote('status__exact=pending&nonsense=1', safe='')}"
        assert page(rows[1]) in admin_client.get(f"{page(rows[2])}?{invalid}").content.decode()


def test_the_page_after_a_decision_offers_to_undo_it(admin_client: Client, boss: Account) -> None:
    first, second = RequestFactory(), RequestFactory()
    filters = "_changelist_filters=status__exact%3Dpending"
    url = f"{page(first, 'decide')}?{filters}"
    shown = admin_client.post(url, {"decision": "reject", "reason": "No."}, follow=True)
    assert shown.redirect_chain == [(f"{page(second)}?{filters}", 302)]
    assert f'action="{url}"' in shown.content.decode()
    assert admin_client.post(url, {"decision": "undo"})["Location"] == f"{page(first)}?{filters}"
    first.refresh_from_db()
    assert first.status == "pending"
    post = MessageFactory(status="pending")
    text = admin_client.post(page(post, "decide"), {"decision": "hide", "reason": "No."}, follow=True).content.decode()
    assert f'hidden. <a href="{page(post, "undo-hiding")}?decided-{post.pk}=' in text


def test_the_summary_of_a_row_names_communities(admin_client: Client) -> None:
    names = ["Harbour", "Gazette", "Market", "Docks", "Pier"]
    ids = [CommunityFactory(name=name).pk for name in names]
    RequestFactory(scopes=["post"], community_ids=ids[:2])
    RequestFactory(scopes=["react"], community_ids=ids)
    RequestFactory(scopes=["quote"])
    text = read(admin_client, AgentRequest, "changelist")
    for part in (
        "post in Harbour, Gazette<",
        "react in Harbour, Gazette, Market and 2 more<",
        "quote in every community<",
    ):
        assert part in text, part


@pytest.mark.parametrize("filters", [{}, FILTERS])
def test_a_refused_decision_on_the_page_of_a_request_keeps_what_was_chosen(
    admin_client: Client, filters: dict[str, str]
) -> None:
    asked, other = CommunityFactory(), CommunityFactory()
    limited, unlimited = RequestFactory(community_ids=[asked.pk, other.pk]), RequestFactory(scopes=["post"])

    def chosen(row: AgentRequest, **sent: Any) -> set[str]:
        """What is selected on the page that follows the approval."""
        url = page(row, "decide") + f"?{urlencode(filters)}"
        text = admin_client.post(url, {"decision": "approve"} | sent, follow=True).content.decode()
        assert "Select at least one." in text or "Nothing was changed" in text or "Reason: " in text
        assert quote(filters.get("_changelist_filters", "")) in text
        return set(re.findall(r'value="([^"]+)"[^>]* (?:checked|selected)', text))

    assert chosen(limited, scopes=["post", "react"]) == {"post", "react"}
    refused = {"decision": "reject", "reason": " ", "scopes": ["post"], "community_ids": [str(other.pk)]}
    assert chosen(limited, **refused) == {"post", str(other.pk)}
    assert chosen(limited, community_ids=[str(asked.pk)]) == {str(asked.pk)}
    assert chosen(unlimited, community_ids=[str(asked.pk)]) == {str(asked.pk)}
    assert not AgentRequest.objects.exclude(status="pending").exists()
    assert "checked" in read(admin_client, limited)


def test_the_list_of_communities_to_narrow_to_says_that_there_are_more(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("actions", "requests"):
        monkeypatch.setattr(f"agents.admin.{place}.LISTED_MAX", 2)
    request = RequestFactory()
    for n in range(3):
        texts = [read(admin_client, request), read(admin_client, AgentRequest, "changelist")]
        assert not any("the API accepts the ids of the others" in text for text in texts), n
        CommunityFactory(name=f"Community {n}")
    for text in (read(admin_client, request), read(admin_client, AgentRequest, "changelist")):
        assert "the API accepts the ids of the others" in text
        assert text.count("Community 2") == 0


def test_the_list_warns_of_refused_calls_and_of_a_series_and_names_the_operator(admin_client: Client) -> None:
    holder = agent_with_token(agent_handle="weather1")
    operator = holder.request.requester
    request = RequestFactory(requester=operator, agent_handle="weather2")
    calls = RefusedCall.objects.create(agent=holder.agent, day=timezone.now().date(), operation="x", code="y", calls=99)
    assert "refused calls" not in read(admin_client, AgentRequest, "changelist")
    RefusedCall.objects.filter(pk=calls.pk).update(calls=100)
    text = read(admin_client, AgentRequest, "changelist", status__exact="pending")
    for part in (
        *(
            '<span class="badge bad">100 refused calls</span>',
            '<span class="badge ">series @weather1 (1 handle)</span>',
        ),
        *("numbered series", "all of this requester", f'href="{page(operator)}">{operator}</a>'),
    ):
        assert part in text, part
    other = RequestFactory(agent_handle="weather3")
    text = read(admin_client, AgentRequest, "changelist")
    assert '<span class="badge bad">series @weather1, @weather2 (2 handles)</span>' in text
    assert "not all of this requester" in read(admin_client, other)
    assert request.status == "pending"


class TestPosts:
    def test_decisions_are_undone_to_the_state_before(self, admin_client: Client) -> None:
        for status, decision, end in (
            ("pending", "approve", "published"),
            ("pending", "hide", "hidden"),
            ("published", "hide", "hidden"),
            ("hidden", "restore", "published"),
        ):
            message = MessageFactory(status=status)
            code, answer = decide_json(admin_client, message, decision, reason="Because.")
            assert (code, answer["state"]) == (200, end)
            code, answer = decide_json(admin_client, message, answer["undo"], reason="")
            assert (code, answer["state"]) == (200, status)

    @pytest.mark.parametrize("in_list", [True, False])
    def test_an_undo_is_refused_after_the_decision_of_another_moderator(
        self, admin_client: Client, in_list: bool
    ) -> None:
        post, by_key, other = MessageFactory(), MessageFactory(), SuperAdminFactory()
        undo = link_of_undo(admin_client, post, "hide", in_list=in_list)
        _code, answer = decide_json(admin_client, by_key, "hide", reason="Mine.")
        # A confirmation page that was opened without a decision to name is about the one that it shows.
        fields = {"reason": "", **decided_fields(admin_client, page(post, "undo-hiding"))}
        for each in (post, by_key):
            restore_message(message_id=each.pk, by=other)
            hide_message(message_id=each.pk, by=other, reason="Theirs.")
        assert "Nothing was changed" in send_form_at(admin_client, undo)
        admin_client.post(page(post, "undo-hiding"), fields)
        sent = {"reason": "", f"decided-{by_key.pk}": answer["decided"]}
        code, answer = decide_json(admin_client, by_key, "undo-hiding", **sent)
        assert (code, "message state changed (status: hidden)" in answer["error"]) == (409, True)
        assert set(Message.objects.values_list("status", flat=True)) == {"hidden"}

    @pytest.mark.parametrize("in_list", [True, False])
    def test_the_page_of_an_undo_of_a_restoring_has_a_form(
        self, admin_client: Client, in_list: bool, unchanged: Unchanged
    ) -> None:
        post = MessageFactory(status="hidden")
        undo = link_of_undo(admin_client, post, "restore", in_list=in_list)
        other = unchanged(MessageFactory())
        assert "Undo restoring" not in read(admin_client, other)
        assert 'value="Undo restoring"' in admin_client.get(undo).content.decode()
        assert "hidden, as before it was restored" in send_form_at(admin_client, undo)
        post.refresh_from_db()
        assert post.status == "hidden"

    def test_a_post_that_returns_to_review_is_not_published_first_again(self, boss: Account) -> None:
        from kernel.changes.models import Change
        from messaging.moderation.services import return_to_review

        parent = MessageFactory()
        reply = MessageFactory(status="pending", parent=parent)
        approve_message(message_id=reply.pk, by=boss)
        return_to_review(message_id=reply.pk, by=boss, reason="A slip.")
        parent.refresh_from_db()
        assert parent.reply_count == 0
        approve_message(message_id=reply.pk, by=boss)
        parent.refresh_from_db()
        assert parent.reply_count == 1
        public = Change.objects.filter(message_id=reply.pk, account_id=None).order_by("id")
        kinds = list(public.values_list("type", flat=True))
        assert kinds == ["message.created", "message.hidden", "message.restored"]
        entries = (
            LogEntry.objects.filter(object_id=str(reply.pk)).order_by("pk").values_list("change_message", flat=True)
        )
        assert list(entries) == [
            "Approved (pending → published).",
            "Returned to review (published → pending): A slip.",
            "Approved (pending → published).",
        ]

    def test_the_list_shows_text_context_and_history(self, admin_client: Client, boss: Account) -> None:
        author = PersonFactory()
        hide_message(message_id=MessageFactory(author=author).pk, by=boss, reason="x")
        parent = MessageFactory(content="What was asked")
        MessageFactory(status="pending", parent=parent, author=author, content="w" * 400 + " <b>end</b>")
        text = read(admin_client, Message, "changelist", status__exact="pending")
        assert "w" * 400 + " &lt;b&gt;end&lt;/b&gt;" in text
        assert "What was asked" in text
        assert "2 posts: 1 hidden, 1 pending" in text
        assert parent.page.normalized_url in text

    def test_ban_and_lift_the_ban_of_an_author(self, admin_client: Client, unchanged: Unchanged) -> None:
        community = CommunityFactory()
        message = MessageFactory(community=community)
        others = (
            Ban.objects.create(community=CommunityFactory(), account=message.author),
            Ban.objects.create(community=community, account=PersonFactory()),
        )
        unchanged(*others)
        own = Ban.objects.exclude(pk__in=[other.pk for other in others])
        assert decide_json(admin_client, message, "ban", reason="")[0] == 400
        assert decide_json(admin_client, message, "ban", reason="Spam.")[0] == 200
        assert own.get().account_id == message.author_id
        assert "banned here" in read(admin_client, Message, "changelist")
        assert decide_json(admin_client, message, "lift-ban", reason="")[0] == 200
        assert not own.exists()
        decide_json(admin_client, message, "ban", reason="Again.")
        assert decide_json(admin_client, message, "lift-ban", reason="Sorry.")[0] == 200
        entries = LogEntry.objects.filter(object_id=str(community.pk))
        assert (entries.count(), entries.latest("pk").change_message) == (
            4,
            f"Ban of {message.author} lifted: Sorry.",
        )
        assert Decision.objects.filter(act="unbanned", reason="Sorry.").exists()


class TestSavedLists:
    def test_a_list_is_saved_replaced_and_removed_by_its_owner(
        self, admin_client: Client, boss: Account, unchanged: Unchanged
    ) -> None:
        url, to_do = page(AgentRequest, "saved"), SavedList.objects.filter(name="To do")
        unchanged(SavedList.objects.create(account=boss, of="agents.agentrequest", name="Other", query="q=x"))
        for query in ("status__exact=pending", "status__exact=rejected&q=bot"):
            response = admin_client.post(url, {"name": "To do", "query": query})
            assert response["Location"] == f"{page(AgentRequest, 'changelist')}?{query}"
        saved = to_do.get()
        assert (saved.account_id, saved.of, saved.query) == (boss.pk, "agents.agentrequest", query)
        assert "?status__exact=rejected&amp;q=bot" in read(admin_client, AgentRequest, "changelist")
        assert "To do" not in read(admin_client, Message, "changelist")
        other = Client()
        other.force_login(SuperAdminFactory())
        assert "To do" not in read(other, AgentRequest, "changelist")
        other.post(url, {"remove": saved.pk})
        assert to_do.exists()
        admin_client.post(url, {"remove": saved.pk})
        assert not to_do.exists()

    def test_an_invalid_list_is_not_saved_and_the_number_of_saved_lists_is_limited(self, admin_client: Client) -> None:
        url = page(AgentRequest, "saved")
        name, query = {"name": "n" * 61}, {"name": "n", "query": "q" * 1001}
        for sent in ({}, {"name": " "}, name, query, {"remove": "9" * 40}):
            assert admin_client.post(url, sent).status_code == 302
        assert not SavedList.objects.exists()
        for n in range(SAVED_MAX + 1):
            admin_client.post(url, {"name": f"List {n}", "query": ""})
        assert SavedList.objects.count() == SAVED_MAX
        # Those of another list are counted by themselves.
        admin_client.post(page(Message, "saved"), {"name": "Posts", "query": ""})
        assert SavedList.objects.filter(name="Posts").exists()


class TestCsv:
    def rows(self, client: Client, model: Any, **query: str) -> list[dict[str, str]]:
        response = client.get(page(model, "csv"), query)
        assert response["Content-Type"] == "text/csv; charset=utf-8"
        assert response.streaming
        return list(csv.DictReader(io.StringIO(response.getvalue().decode())))

    def test_it_has_the_filtered_rows_and_no_formulas(
        self, admin_client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("kernel.admin.changelists.BATCH", 2)
        ApprovedFactory()
        expected = [RequestFactory(agent_name=f"=1+{n}", purpose='@SUM(A1)\n"quoted", and more') for n in range(5)]
        rows = self.rows(admin_client, AgentRequest, status__exact="pending")
        assert [row["handle"] for row in rows] == [row.agent_handle for row in expected]
        assert rows[0]["name"] == "'=1+0"
        assert rows[0]["purpose"] == '\'@SUM(A1)\n"quoted", and more'

    def test_posts_are_exported_with_constant_queries_for_each_batch(self, admin_client: Client) -> None:
        MessageFactory.create_batch(3, content="-2")
        with CaptureQueriesContext(connection) as few:
            assert [row["text"] for row in self.rows(admin_client, Message)] == ["'-2"] * 3
        MessageFactory.create_batch(6)
        with CaptureQueriesContext(connection) as many:
            assert len(self.rows(admin_client, Message)) == 9
        assert len(many) == len(few)

    def test_an_invalid_filter_leads_to_the_list(self, admin_client: Client) -> None:
        response = admin_client.get(page(AgentRequest, "csv"), {"status__nope": "x"})
        assert response["Location"] == page(AgentRequest, "changelist")


class TestLookAlikes:
    def test_the_nearest_are_read_first_where_there_are_too_many(
        self, admin_client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for handle in ("a_librarian_bot", "librarian_bot", "librarians", "librarlan"):
            PersonFactory(handle=handle)
        request = RequestFactory(agent_handle="librarian")
        for most, expected in ((1, ["librarlan"]), (2, ["librarlan", "librarians"])):
            monkeypatch.setattr("agents.admin.look_alikes.FOUND_MAX", most + 1)
            found = look_alikes_of([request])[request.pk]
            assert [one.handle for one in [*found.nearest, *found.rest]] == expected
            assert found.is_cut
        for text in (read(admin_client, request), read(admin_client, AgentRequest, "changelist")):
            assert "There are more similar handles than are shown." in text
        monkeypatch.undo()
        assert not look_alikes_of([request])[request.pk].is_cut

    def test_three_are_near_and_the_rest_is_folded(self, admin_client: Client) -> None:
        for handle in ("librar1an", "libraria_n", "librarlan", "librarians", "libarian"):
            PersonFactory(handle=handle)
        request = RequestFactory(agent_handle="librarian")
        found = look_alikes_of([request])[request.pk]
        assert [one.handle for one in found.nearest] == ["librar1an", "libraria_n", "librarlan"]
        assert {one.handle for one in found.rest} == {"librarians", "libarian"}
        assert "2 more" in read(admin_client, request)

    def test_a_numbered_series_of_the_requester_is_one(self) -> None:
        person = PersonFactory()
        others = [ApprovedFactory(requester=person, agent_handle=f"weather{n}") for n in range(1, 7)]
        request = RequestFactory(requester=person, agent_handle="weather7")
        found = look_alikes_of([request])[request.pk]
        assert {one.handle for one in found.series} == {other.agent_handle for other in others}
        assert (found.nearest, found.is_own) == ([], True)
        assert found.series_text == "@weather1, @weather2 … @weather6 (6 handles)"
        # A series of another person is not their own.
        request = RequestFactory(agent_handle="weather8")
        assert not look_alikes_of([request])[request.pk].is_own

    @pytest.mark.parametrize(("handle", "base"), [("bot_12", "bot"), ("bot12", "bot"), ("bot", ""), ("b0t", "")])
    def test_the_base_of_a_series(self, handle: str, base: str) -> None:
        assert series_base(handle) == base


def links(client: Client) -> dict[str, str]:
    text = client.get(f"{page(Message, 'changelist')}?{QUERY}").content.decode()
    block = re.findall(r'<p class="author-actions">(.*?)</p>', text, re.DOTALL)[0]
    return {name: unescape(url) for url, name in re.findall(r'<a href="([^"]+)">([^<]+)…</a>', block)}


def test_actions_on_the_author_lead_back_to_the_row_in_the_list(admin_client: Client) -> None:
    message = MessageFactory(status="pending", content="Herring", community=CommunityFactory(name="Harbour"))
    place = f"{page(Message, 'changelist')}?{QUERY}#row-{message.pk}"
    for name in ("Ban the author from Harbour", "Lift the ban from Harbour", "Suspend", "Unsuspend"):
        url = links(admin_client)[name]
        assert f'href="{place.replace("&", "&amp;")}"' in admin_client.get(url).content.decode(), name
        assert admin_client.post(url, {"reason": "x"})["Location"] == place, name
    assert not Ban.objects.exists()
    hide = links(admin_client)["Hide all posts of the author"]
    assert admin_client.post(hide, {"reason": "x"})["Location"] == place
    message.refresh_from_db()
    assert message.status == "hidden"


def test_a_suspended_author_is_not_suspended_again(admin_client: Client) -> None:
    message = MessageFactory(status="pending", content="Herring")
    suspend_person(person=message.author, by=SuperAdminFactory(), reason="x")
    assert list(links(admin_client)) == ["Unsuspend", "Hide all posts of the author"]


@pytest.mark.parametrize(
    "place",
    [
        *("https://evil.example/admin/messaging/message/", "//evil.example/admin/messaging/message/", "/admin/"),
        *("/admin/messaging/message/x/", "/api/messages", "javascript:alert(1)", "//[", "", "/\\evil.example"),
    ],
)
def test_a_page_leads_back_to_lists_of_the_admin_only(place: str) -> None:
    assert return_url(WebRequests().get(returning("/admin/", to=place))) == ""
