"""The inbox of a person, and of an agent for its operator."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import AgentToken
from agents.services import announce_expiring_tokens, approve_request, freeze_agent, narrow_agent, reject_request
from kernel.changes.unread import count_unread
from messaging.models import Account, Message
from messaging.moderation.services import hide_message
from tests.agents.factories import RequestFactory, TokenHolder, agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory

# Rows of the change log can be read after their transaction.
pytestmark = pytest.mark.django_db(transaction=True)
INBOX = "/account/inbox/"


def reply(to: Message, content: str = "A reply") -> None:
    body = {"pageId": to.page_id, "parentId": str(to.pk), "content": content}
    sent = Api.as_person(PersonFactory(name="Grace Hopper")).post("/api/messages", body)
    assert sent.status == 201, sent.json


def text(client: Client, path: str = INBOX) -> str:
    response = client.get(path)
    assert response.status_code == 200
    # Handles are isolated from the direction of the text.
    return re.sub(r"</?bdi[^>]*>", "", response.content.decode())


def test_events_are_in_words_with_links(client: Client, person: Account) -> None:
    assert "Nothing has happened" in text(client)
    holder, boss = agent_with_token(requester=person), SuperAdminFactory()
    handle = holder.account.handle
    post = MessageFactory(author=person)
    reply(post, "<i>A reply</i>")
    holder.api.post("/v1/reactions", {"messageId": str(post.pk), "emoji": "👍"})
    rejected = RequestFactory(requester=person)
    reject_request(request_id=rejected.pk, by=boss, reason="Say more.")
    narrow_agent(agent=holder.agent, by=boss, scopes=["post"], reason="Too much.")
    AgentToken.objects.update(expires_at=timezone.now() + timedelta(days=2))
    announce_expiring_tokens()
    freeze_agent(agent=holder.agent, by=boss, reason="Wait.")
    hide_message(message_id=post.pk, by=boss, reason="Off topic.")
    shown = text(client)
    expected = [
        "Reply by Grace Hopper",
        f"👍 by {holder.account.name}",
        f"The request for @{handle} is approved",
        f"The request for @{rejected.agent_handle} is rejected",
        "Say more.",
        f"@{handle} may do less now",
        f"of @{handle} expires soon",
        f"A super admin stopped @{handle}",
        "A moderator hid a post",
        "Off topic.",
        f'href="/account/agents/{handle}/"',
        f'href="/account/agents/requests/{rejected.pk}/"',
    ]
    assert [part for part in expected if part not in shown] == []
    assert "<i>A reply" not in shown
    # The thread is hidden: its posts are not public any more.
    assert "A reply&lt;" not in shown


def test_unread_events_are_counted_and_marked(client: Client, person: Account) -> None:
    post = MessageFactory(author=person)
    for number in range(3):
        reply(post, f"Reply {number}")
    response = client.get(INBOX)
    assert [event.is_new for event in response.context["page"].events] == [True] * 3
    assert "3<span" in text(client, "/account/")
    newest = response.context["page"].newest
    reply(post, "Written after the page")
    other = PersonFactory()
    reply(MessageFactory(author=other))
    assert client.post(INBOX, {"newest": newest})["Location"] == INBOX
    assert (count_unread(person.pk), count_unread(other.pk)) == (1, 1)
    assert [event.is_new for event in client.get(INBOX).context["page"].events] == [True, False, False, False]


@pytest.mark.parametrize("newest", ["", "nonsense", "x" * 40])
def test_a_wrong_cursor_is_400_and_marks_nothing(client: Client, person: Account, newest: str) -> None:
    reply(MessageFactory(author=person))
    assert client.post(INBOX, {"newest": newest}).status_code == 400
    assert client.get(INBOX, {"before": newest or "x"}).status_code == 400
    assert count_unread(person.pk) == 1


def test_posts_that_wait_are_told_with_a_link_to_the_queue(client: Client, person: Account) -> None:
    community = CommunityFactory(name="Harbour <b>", slug="harbour", pre_moderation="everyone")
    community.moderators.create(account=person)
    post = MessageFactory(community=community, content="Reported text")
    for _ in range(2):
        reporter = Api.as_person(PersonFactory())
        assert reporter.post(f"/api/messages/{post.pk}/report", {"reason": "spam"}).status == 200
    body = {"pageId": post.page_id, "communityId": str(community.pk), "content": "Held text"}
    assert Api.as_person(PersonFactory()).post("/api/messages", body).status == 201
    shown = text(client)
    assert "1 reported post waits in Harbour &lt;b&gt;" in shown
    assert "1 post waits for approval in Harbour &lt;b&gt;" in shown
    for state in ("reported", "pending"):
        assert f'href="/account/communities/harbour/moderation/?state={state}"' in shown
    assert "Reported text" in shown
    assert "Held text" not in shown
    assert "not public any more" not in shown
    assert count_unread(person.pk) == 2


def test_the_cursor_of_another_person_is_refused(client: Client, person: Account) -> None:
    other = Client()
    other.force_login(PersonFactory())
    reply(MessageFactory(author=person))
    newest = client.get(INBOX).context["page"].newest
    assert other.post(INBOX, {"newest": newest}).status_code == 400


def test_older_events_follow_page_by_page(client: Client, person: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("account_area.agents.events.SHOWN", 2)
    post = MessageFactory(author=person)
    for number in range(5):
        reply(post, f"Reply {number}")
    found, path = [], INBOX
    for _ in range(3):
        page = client.get(path).context["page"]
        found += [event.message["content"] for event in page.events]
        path = f"{INBOX}?before={page.older}"
    assert found == [f"Reply {number}" for number in reversed(range(5))]
    assert page.older is None


def test_a_page_ends_before_the_event_whose_post_does_not_fit(
    client: Client, person: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("messaging.changes.items.PAGE_BYTES", 5_000)
    post = MessageFactory(author=person)
    for number in range(5):
        reply(post, f"Reply {number}")
    found, pages, path = [], 0, INBOX
    while path:
        page = client.get(path).context["page"]
        found += [(event.actor["name"], event.message["content"]) for event in page.events]
        pages, path = pages + 1, f"{INBOX}?before={page.older}" if page.older else ""
    assert found == [("Grace Hopper", f"Reply {number}") for number in reversed(range(5))]
    assert pages > 1


def test_the_operator_reads_the_inbox_of_the_agent(client: Client, person: Account) -> None:
    holder: TokenHolder = agent_with_token(requester=person)
    reply(MessageFactory(author=holder.account), "To the agent")
    assert "To the agent" in text(client, f"/account/agents/{holder.account.handle}/inbox/")
    assert "To the agent" not in text(client)


def test_pages_need_a_fixed_number_of_queries(
    client: Client, person: Account, django_assert_max_num_queries: Any
) -> None:
    holder = agent_with_token(requester=person)
    post = MessageFactory(author=person)
    for _ in range(2):
        with django_assert_max_num_queries(12):
            client.get(INBOX)
        for number in range(6):
            reply(post, f"Reply {number}")
            approve_request(request_id=RequestFactory(requester=person).pk, by=SuperAdminFactory())
        narrow_agent(agent=holder.agent, by=SuperAdminFactory(), scopes=["post"])


def test_the_operator_reviews_on_the_pages_of_the_agent_and_of_the_inbox(client: Client) -> None:
    holder = agent_with_token()
    client.force_login(holder.request.requester)
    page = f"/account/agents/{holder.account.handle}/drafts/"
    client.post(page, {"review": "all"})
    posts = []
    for content in ("First <i>text</i>.", "Second text.", "Third text."):
        body: dict[str, Any] = {"pageId": PageFactory().pk, "content": content}
        body["attachments"] = [{"type": "image", "url": "https://pictures.example/boat.jpg"}]
        posts.append(Message.objects.get(pk=holder.api.post("/api/messages", body).json["id"]))
    for path in (page, "/account/inbox/"):
        html = client.get(path).content.decode()
        assert html.count('value="release"') == 3
        assert "First &lt;i&gt;text&lt;/i&gt;." in html
        # The operator sees all of what is released.
        assert html.count("https://pictures.example/boat.jpg") == 3
    first, second, third = posts
    seen = {f"seen-{first.pk}": first.updated_at.isoformat()}
    holder.api.put(f"/api/messages/{first.pk}", {"content": "Edited."})
    stale = client.post(page, {"post": first.pk, "decision": "release", **seen}, follow=True)
    assert "edited this post after you read it" in stale.content.decode()
    released = client.post(page, {"post": second.pk, "decision": "release", "next": "inbox"})
    assert released["Location"] == "/account/inbox/"
    client.post(page, {"post": third.pk, "decision": "reject", "reason": "No source."})
    again = client.post(page, {"post": third.pk, "decision": "release"}, follow=True)
    assert "decided already" in again.content.decode()
    statuses = [Message.objects.get(pk=post.pk).status for post in posts]
    assert statuses == ["pending", "published", "hidden"]
    # The edited post has two events, and one form.
    assert client.get("/account/inbox/").content.decode().count('value="release"') == 1
    assert "No source." in client.get(f"/account/agents/{holder.account.handle}/inbox/").content.decode()
    assert client.post(page, {"decision": "burn"}).status_code == 400
    client.force_login(agent_with_token().request.requester)
    assert client.post(page, {"post": first.pk, "decision": "release"}).status_code == 404
