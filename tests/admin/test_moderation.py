"""The admin of posts: pending, hidden, restored, edited and deleted ones, with immediate effect on the public lists."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from messaging.models import Account, ClosedPage, Decision, Message, MessageStatus, Pin
from messaging.moderation.services import hide_message, restore_message
from tests.admin.bystanders import Unchanged
from tests.admin.pages import decide, decide_on_many, page, read, rows_of
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
MARKUP = "<b>first</b> & more"


def pending_message(days: int = 0, **fields: Any) -> Message:
    message: Message = MessageFactory(status="pending", **fields)
    Message.objects.filter(pk=message.pk).update(created_at=timezone.now() - timedelta(days=days))
    message.refresh_from_db()
    return message


def is_public(message: Message) -> bool:
    listed = [row["id"] for row in Api().get("/api/messages", pageId=message.page_id).json["messages"]]
    is_shown = Api().get(f"/api/messages/{message.pk}").status == 200
    assert is_shown == (str(message.pk) in listed)
    return is_shown


def listed(admin_client: Client, **query: str) -> list[Message]:
    response = admin_client.get(page(Message, "changelist"), query)
    assert response.status_code == 200
    return list(response.context["cl"].result_list)


def test_index_shows_the_number_of_pending_posts(admin_client: Client) -> None:
    pending_message(days=2)
    pending_message(days=1)
    text = admin_client.get("/admin/").content.decode()
    assert "<strong>2</strong>\n<span>posts to moderate</span>" in text
    assert f"{page(Message, 'changelist')}?status__exact=pending" in text


def test_pending_posts_are_listed_oldest_first_and_all_newest_first(admin_client: Client) -> None:
    younger, older, published = pending_message(days=1), pending_message(days=3), MessageFactory()
    assert listed(admin_client, status__exact="pending") == [older, younger]
    assert listed(admin_client) == [published, older, younger]


def test_search_by_text_handle_id_and_url_and_filters(admin_client: Client) -> None:
    agent = agent_with_token(agent_handle="harbour_guide").agent.account
    community, web_page = CommunityFactory(), PageFactory(url="https://example.com/harbour")
    one = MessageFactory(content="Old lighthouse", author=agent, community=community, page=web_page, tag_type="claim")
    MessageFactory(content="Something else")
    address = "http://www.example.com/harbour/?utm_source=x"
    searches = ("lighthouse", "@harbour_guide", str(one.pk), str(agent.pk), web_page.pk, address)
    filters = {"author_kind__exact": "agent", "community__id__exact": str(community.pk), "tag_type": "claim"}
    for query in (*({"q": words} for words in searches), *({name: value} for name, value in filters.items())):
        assert listed(admin_client, **query) == [one], query
    assert listed(admin_client, q="'; DROP TABLE") == []
    assert listed(admin_client, q="http://[") == []


def test_user_content_is_escaped(admin_client: Client) -> None:
    parent = MessageFactory(content="The parent")
    message = pending_message(
        content="<img src=x onerror=alert(1)>\nSecond line",
        parent=parent,
        tag_type="claim",
        payload={"statement": "<script>alert(2)</script>"},
        anchor_text="<b>words</b>",
        attachments=[
            {"type": "image", "url": "https://example.com/a.png"},
            {"type": "x", "url": "javascript:alert(3)"},
        ],
    )
    text = read(admin_client, message)
    for unescaped in ("<img src=x", "<script>alert", "<b>words", 'href="javascript'):
        assert unescaped not in text
        assert unescaped not in read(admin_client, Message, "changelist")
    assert "&lt;img src=x onerror=alert(1)&gt;\nSecond line" in text
    assert '<a href="https://example.com/a.png" rel="nofollow noopener noreferrer"' in text
    assert page(parent) in text


def test_approve_publishes_the_post_and_redirects_to_the_next(
    admin_client: Client, boss: Account, unchanged: Unchanged
) -> None:
    first, second = pending_message(days=2), pending_message(days=1)
    unchanged(second)
    assert not is_public(first)
    response = admin_client.post(page(first, "approve"), {"reason": ""})
    assert response.headers["Location"] == page(second)
    assert is_public(first)
    assert "Approved (pending → published)." in read(admin_client, first)
    entry = LogEntry.objects.get(object_id=str(first.pk))
    assert (entry.user_id, entry.change_message) == (boss.pk, "Approved (pending → published).")


def test_hide_and_restore_a_published_post(admin_client: Client, unchanged: Unchanged) -> None:
    message = MessageFactory()
    unchanged(MessageFactory(page=message.page), MessageFactory(status="hidden"))
    assert "errorlist" in decide(admin_client, message, "hide")
    assert is_public(message)
    text = decide(admin_client, message, "hide", reason="Off topic.")
    assert not is_public(message)
    assert "Hidden (published → hidden): Off topic." in [row[-1] for row in rows_of(text)]
    assert page(message, "hide") not in text
    assert "message state changed (status: hidden)" in decide(admin_client, message, "hide", reason="Second.")
    assert LogEntry.objects.filter(object_id=str(message.pk)).count() == 1
    decide(admin_client, message, "restore")
    assert is_public(message)


def test_bulk_approve_hide_and_restore(admin_client: Client, unchanged: Unchanged) -> None:
    unchanged(pending_message(), MessageFactory(), MessageFactory(status="hidden"))
    messages = [pending_message(), pending_message(), MessageFactory()]
    text = decide_on_many(admin_client, messages, "approve")
    assert "2 messages: approved." in text
    assert "message state changed (status: published)" in text
    assert all(map(is_public, messages))
    assert "3 messages: hidden." in decide_on_many(admin_client, messages, "hide", reason="All of it.")
    assert not any(map(is_public, messages))
    assert "3 messages: restored." in decide_on_many(admin_client, messages, "restore")
    assert LogEntry.objects.filter(change_message="Hidden (published → hidden): All of it.").count() == 3


def test_bulk_action_on_too_many_rows_is_refused(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.admin.model_admin.BULK_MAX", 2)
    sent = {"action": "hide", "_selected_action": [str(one.pk) for one in MessageFactory.create_batch(3)]}
    text = admin_client.post(page(Message, "changelist"), sent, follow=True).content.decode()
    assert "At most 2 at once." in text


@pytest.mark.django_db(transaction=True)
def test_concurrent_approvals_only_one_succeeds() -> None:
    parent = MessageFactory()
    message = pending_message(parent=parent)
    clients = [Client(), Client()]
    for client in clients:
        client.force_login(SuperAdminFactory())
    texts = race(2, lambda number: decide(clients[number], message, "approve"))
    assert sorted("Nothing was changed" in text for text in texts) == [False, True]
    parent.refresh_from_db()
    message.refresh_from_db()
    assert (message.status, parent.reply_count) == (MessageStatus.PUBLISHED, 1)


def edited(text: str = "second", **fields: object) -> Message:
    message: Message = MessageFactory(content=MARKUP, tag_type="note", payload={"word": "pebble"}, **fields)
    answer = Api.as_person(message.author).put(f"/api/messages/{message.pk}", {"content": text})
    assert answer.status == 200
    return message


def delete_as_author(message: Message) -> None:
    assert Api.as_person(message.author).delete(f"/api/messages/{message.pk}").status == 200


def test_the_page_of_an_edited_post_shows_its_versions_as_text(admin_client: Client) -> None:
    assert "Earlier versions" not in read(admin_client, MessageFactory())
    text = read(admin_client, edited())
    assert "Earlier versions" in text
    assert "&lt;b&gt;first&lt;/b&gt; &amp; more" in text
    assert "pebble" in text
    assert "30 days" in text


def test_the_page_of_a_deleted_post_shows_what_was_deleted_and_no_action(admin_client: Client) -> None:
    message = edited()
    delete_as_author(message)
    text = read(admin_client, message)
    assert "deleted" in text
    assert "second" in text
    for action in ("hide", "restore", "approve"):
        assert page(message, action) not in text
        assert "message state changed" in decide(admin_client, message, action, reason="Rude")


def test_an_edited_post_is_hidden_and_restored(admin_client: Client) -> None:
    message = edited()
    decide(admin_client, message, "hide", reason="Rude")
    assert Api().get(f"/api/messages/{message.pk}").status == 404
    decide(admin_client, message, "restore")
    assert Api().get(f"/api/messages/{message.pk}").json["content"] == "second"


def test_a_post_that_waits_again_after_an_edit_is_in_the_queue_and_approved(admin_client: Client) -> None:
    message = edited(community=CommunityFactory(pre_moderation="everyone"))
    waiting = admin_client.get(page(Message, "changelist"), {"status__exact": "pending"})
    assert list(waiting.context["cl"].result_list) == [message]
    decide(admin_client, message, "approve")
    assert Api().get(f"/api/messages/{message.pk}").json["content"] == "second"


def test_a_reply_in_a_hidden_thread_says_so(admin_client: Client) -> None:
    parent = MessageFactory()
    reply, boss = MessageFactory(parent=parent), SuperAdminFactory()
    hide_message(message_id=parent.pk, by=boss)
    assert "in a hidden thread" in read(admin_client, reply)
    restore_message(message_id=parent.pk, by=boss)
    assert "in a hidden thread" not in read(admin_client, reply)


def test_a_post_is_pinned_and_its_discussion_closed_and_reopened(admin_client: Client, unchanged: Unchanged) -> None:
    community = CommunityFactory()
    post, other = (MessageFactory(community=community) for _ in range(2))
    unchanged(Pin.objects.create(community=community, page=other.page, message=other))
    unchanged(ClosedPage.objects.create(community=CommunityFactory(), page=post.page))
    own_pins, closings = Pin.objects.filter(message=post), ClosedPage.objects.filter(community=community)
    decide(admin_client, post, "pin", reason="The rules.")
    decide(admin_client, post, "close-discussion", reason="Done.")
    assert (own_pins.count(), closings.get().page_id) == (1, post.page_id)
    assert set(Decision.objects.values_list("act", "reason")) == {("pinned", "The rules."), ("closed", "Done.")}
    text = read(admin_client, community)
    assert f"Closed on pages: 1</summary><ul><li>{post.page.normalized_url}</li>" in text
    assert "Pinned posts: 2" in text
    shown = read(admin_client, post)
    assert "Unpin" in shown
    assert "Reopen the discussion" in shown
    decide(admin_client, post, "unpin", reason="")
    decide(admin_client, post, "reopen-discussion", reason="")
    assert not own_pins.exists()
    assert not closings.exists()


def test_a_fourth_pin_and_the_pin_of_a_reply_are_refused(admin_client: Client) -> None:
    community, here = CommunityFactory(), PageFactory()
    *pinned, fourth = (MessageFactory(community=community, page=here) for _ in range(4))
    for post in pinned:
        decide(admin_client, post, "pin", reason="")
    assert "too many pins" in decide(admin_client, fourth, "pin", reason="")
    reply = MessageFactory(community=community, parent=fourth)
    assert ">Pin<" not in read(admin_client, reply)
    assert Pin.objects.count() == 3
