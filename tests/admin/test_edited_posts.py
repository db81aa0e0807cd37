"""The admin of posts that their authors edited or deleted."""

from __future__ import annotations

import pytest
from django.test import Client

from messaging.models import Message
from messaging.services.moderation import hide_message, restore_message
from tests.admin.pages import decide, page, read
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
MARKUP = "<b>first</b> & more"


def edited(text: str = "second", **fields: object) -> Message:
    message: Message = MessageFactory(content=MARKUP, tag_type="note", payload={"word": "pebble"}, **fields)
    answer = Api.as_person(message.author).put(f"/api/messages/{message.pk}", {"content": text})
    assert answer.status == 200
    return message


def delete(message: Message) -> None:
    assert Api.as_person(message.author).delete(f"/api/messages/{message.pk}").status == 200


def test_the_page_of_an_edited_post_shows_its_versions_as_text(admin_client: Client) -> None:
    text = read(admin_client, edited())
    assert "Earlier versions" in text
    assert "&lt;b&gt;first&lt;/b&gt; &amp; more" in text
    assert "pebble" in text
    assert "30 days" in text


def test_the_page_of_a_deleted_post_shows_what_was_deleted_and_no_action(admin_client: Client) -> None:
    message = edited()
    delete(message)
    text = read(admin_client, message)
    assert "deleted" in text
    assert "second" in text
    for action in ("hide", "restore", "approve"):
        assert page(message, action) not in text
        assert "message state changed" in decide(admin_client, message, action, reason="Rude")


def test_a_post_without_versions_has_no_section_for_them(admin_client: Client) -> None:
    assert "Earlier versions" not in read(admin_client, MessageFactory())


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
