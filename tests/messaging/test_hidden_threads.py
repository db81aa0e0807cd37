"""A hidden or pending post is gone with its replies, everywhere, until it is public again."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from messaging.models import Message
from messaging.moderation.services import approve_message, hide_message, restore_message
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.hiding import hide_posts_of, restore_posts_of

pytestmark = pytest.mark.django_db
MARK = import_module("messaging.migrations.0016_hide_threads_of_earlier_posts")


class Thread:
    """A post, a reply to it, and a reply to that one, in a community; `fan` has reacted to the last one."""

    def __init__(self) -> None:
        self.boss, self.fan, self.community = SuperAdminFactory(), PersonFactory(), CommunityFactory()
        self.post = MessageFactory(content="alpha", community=self.community)
        self.reply = MessageFactory(content="beta", parent=self.post, community=self.community)
        self.last = MessageFactory(content="gamma", parent=self.reply, community=self.community)
        self.quote = MessageFactory(quote=self.last)
        reaction = {"messageId": str(self.last.pk), "emoji": "👍", "toggle": False}
        assert Api.as_person(self.fan).post("/v1/reactions", reaction).status == 200

    def shows(self, message: Message) -> dict[str, bool]:
        """Whether a post is shown by each read; all must agree, except the list for a post of its own."""
        page, word, message_id = message.page_id, message.content, str(message.pk)
        parent = {"parentId": str(message.parent_id)} if message.parent_id else {}
        reads = {
            "get": f"/api/messages/{message_id}",
            "reactions": f"/v1/reactions/{message_id}",
            "search": f"/v1/search?q={word}",
            "page feed": f"/feeds/pages/{page}.json",
            "community feed": f"/feeds/communities/{self.community.slug}.json",
        }
        shown = {}
        for name, path in reads.items():
            answer = Api().get(path)
            shown[name] = answer.status == 200 and message_id in answer.body.decode()
        listed = Api().get("/api/messages", pageId=page, **parent).json["messages"]
        changes = Api().get("/v1/changes", pageId=page, limit=100).json["changes"]
        logged = [change["message"] for change in changes if change["messageId"] == message_id]
        shown["list"] = message_id in [record["id"] for record in listed]
        shown["permalink"] = Client().get(f"/p/{message_id}").status_code == 200
        if logged:
            shown["changes"] = all(logged)
        return shown

    def is_shown(self, message: Message) -> bool:
        shown = self.shows(message)
        assert len(set(shown.values())) == 1, shown
        return shown["get"]

    def numbers(self) -> tuple[int, int, int]:
        """The posts and replies of the page, and the posts of the community."""
        urls = {"urls": [self.post.page.normalized_url]}
        counts = Api().post("/v1/presence/counts", urls).json["counts"][0]
        community = Api().get(f"/v1/communities/{self.community.pk}").json
        return counts["posts"], counts["replies"], community["posts"]


@pytest.fixture
def thread() -> Thread:
    return Thread()


@pytest.mark.django_db(transaction=True)
def test_a_hidden_post_is_gone_with_its_replies_until_it_is_restored(thread: Thread) -> None:
    every = (thread.post, thread.reply, thread.last)
    bystander = MessageFactory(parent=MessageFactory())
    assert ([thread.is_shown(message) for message in every], thread.numbers()) == ([True] * 3, (1, 2, 3))
    hide_message(message_id=thread.post.pk, by=thread.boss)
    assert ([thread.is_shown(message) for message in every], thread.numbers()) == ([False] * 3, (0, 0, 0))
    assert Api().get(f"/api/messages/{bystander.pk}").status == 200
    restore_message(message_id=thread.post.pk, by=thread.boss)
    assert ([thread.is_shown(message) for message in every], thread.numbers()) == ([True] * 3, (1, 2, 3))


def test_only_the_part_below_a_hidden_reply_is_gone(thread: Thread) -> None:
    hide_message(message_id=thread.reply.pk, by=thread.boss)
    assert thread.is_shown(thread.post)
    assert not thread.is_shown(thread.reply)
    assert not thread.is_shown(thread.last)
    assert thread.numbers() == (1, 0, 1)


def test_nothing_of_a_reply_there_is_shown_and_nobody_answers_quotes_or_reacts(thread: Thread) -> None:
    fan, agent = Api.as_person(thread.fan), agent_with_token().api

    def own() -> int:
        return len(fan.get("/v1/me/reactions", pageId=thread.post.page_id).json["reactions"])

    assert own() == 1
    hide_message(message_id=thread.post.pk, by=thread.boss)
    assert own() == 0
    record = Api().get(f"/api/messages/{thread.quote.pk}").json
    assert (record["quote"], record["quoteId"]) == (None, str(thread.last.pk))
    reaction = {"messageId": str(thread.last.pk), "emoji": "🎉"}
    assert fan.post("/v1/reactions", reaction).error == "message_not_found"
    for field, code in (("parentId", "parent_not_found"), ("quoteId", "quote_not_found")):
        body = {"pageId": thread.last.page_id, "content": "x", field: str(thread.last.pk)}
        answer = agent.post("/api/messages", body)
        assert (answer.status, answer.error) == (404, code)


def test_a_reply_that_is_hidden_itself_stays_so_when_its_thread_is_restored(thread: Thread) -> None:
    hide_message(message_id=thread.reply.pk, by=thread.boss)
    hide_message(message_id=thread.post.pk, by=thread.boss)
    restore_message(message_id=thread.post.pk, by=thread.boss)
    assert [thread.is_shown(message) for message in (thread.post, thread.reply, thread.last)] == [True, False, False]
    restore_message(message_id=thread.reply.pk, by=thread.boss)
    assert thread.is_shown(thread.last)


def test_a_reply_that_is_restored_in_a_hidden_thread_waits_for_it(thread: Thread) -> None:
    hide_message(message_id=thread.reply.pk, by=thread.boss)
    hide_message(message_id=thread.post.pk, by=thread.boss)
    restore_message(message_id=thread.reply.pk, by=thread.boss)
    assert not thread.is_shown(thread.last)
    restore_message(message_id=thread.post.pk, by=thread.boss)
    assert thread.is_shown(thread.last)


def test_a_reply_that_waited_for_approval_is_approved_into_its_hidden_thread(thread: Thread) -> None:
    waiting = MessageFactory(parent=thread.reply, status="pending")
    hide_message(message_id=thread.post.pk, by=thread.boss)
    approve_message(message_id=waiting.pk, by=thread.boss)
    assert Api().get(f"/api/messages/{waiting.pk}").status == 404
    restore_message(message_id=thread.post.pk, by=thread.boss)
    assert Api().get(f"/api/messages/{waiting.pk}").status == 200


def test_all_posts_of_an_author_are_hidden_with_the_replies_of_others(thread: Thread) -> None:
    hide_posts_of(author=thread.post.author, by=thread.boss)
    assert not thread.is_shown(thread.last)
    restore_posts_of(author=thread.post.author, by=thread.boss)
    assert thread.is_shown(thread.last)


def test_a_long_chain_of_replies_is_hidden_and_restored() -> None:
    message, boss = MessageFactory(), SuperAdminFactory()
    root, page, author = message, message.page, PersonFactory()
    for _ in range(60):
        message = Message.objects.create(page=page, author=author, author_kind="human", content="x", parent=message)
    for decide, is_hidden in ((hide_message, True), (restore_message, False)):
        decide(message_id=root.pk, by=boss)
        assert Message.objects.filter(in_hidden_thread=is_hidden, parent__isnull=False).count() == 60


def test_the_migration_marks_the_threads_of_posts_that_were_hidden_before(thread: Thread) -> None:
    hide_message(message_id=thread.post.pk, by=thread.boss)
    with connection.cursor() as cursor:
        # As an earlier release left them.
        cursor.execute("SELECT messaging_mark_thread(%s, false)", [thread.post.pk])
    assert Api().get(f"/api/messages/{thread.last.pk}").status == 200
    for _ in range(2):
        with connection.schema_editor() as editor:
            MARK.mark(None, editor)
        assert not thread.is_shown(thread.last)
        assert thread.numbers() == (0, 0, 0)


@pytest.mark.django_db(transaction=True)
def test_a_reply_that_is_written_while_its_thread_is_hidden_is_refused_or_hidden() -> None:
    boss, page = SuperAdminFactory(), PageFactory()
    for _ in range(3):
        root = MessageFactory(page=page)
        parent = MessageFactory(parent=root)

        def act(number: int, root: Message = root, parent: Message = parent) -> int:
            if number == 0:
                hide_message(message_id=root.pk, by=boss)
                return 404
            body = {"pageId": page.pk, "content": "x", "parentId": str(parent.pk)}
            return Api.as_person(PersonFactory()).post("/api/messages", body).status

        assert set(race(4, act)) <= {201, 404}
        below: Any = Message.objects.filter(parent__in=[root, parent])
        assert not below.filter(in_hidden_thread=False).exists()
