"""deleteMessage: who may delete, erasure, tombstones, changes, retries."""

from __future__ import annotations

from importlib import import_module
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from kernel.database.sql import execute
from messaging.models import Message, MessageVersion, Report
from messaging.moderation.services import approve_message, hide_message, restore_message
from messaging.posts.exceptions import NotInThisState
from tests.agents.factories import agent_with_token
from tests.api import Answer, Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
COUNTED = import_module("messaging.migrations.0041_counted_tombstones")
NOBODY = {"id": "00000000-0000-0000-0000-000000000000", "name": "Deleted", "handle": "deleted", "kind": "human"}


def delete(message: Message, caller: Api | None = None, **options: Any) -> Answer:
    """Delete a post, as its author by default."""
    return (caller or Api.as_person(message.author)).delete(f"/api/messages/{message.pk}", **options)


def listed(message: Message, **query: Any) -> list[Any]:
    found: list[Any] = Api().get("/api/messages", pageId=message.page_id, **query).json["messages"]
    return found


def full_post(**fields: Any) -> Message:
    message: Message = MessageFactory(
        content="Secret words",
        tag_type="note",
        payload={"text": "hidden"},
        anchor_text="anchor",
        context_anchor={"start": 1},
        attachments=[{"type": "link", "url": "https://a.example/"}],
        language="en",
        source_app="cli",
        **fields,
    )
    return message


def test_the_reports_of_a_deleted_post_are_closed() -> None:
    """None of them waits for a decision, and no moderator can decide on it."""
    post, other, admin = MessageFactory(), MessageFactory(), Api.as_person(SuperAdminFactory())
    body = {"reason": "spam", "note": "Look"}
    for each in (post, other):
        assert Api.as_person(PersonFactory()).post(f"/api/messages/{each.pk}/report", body).status == 200
    assert delete(post).status == 200
    assert Report.objects.get(closed_at=None).message == other
    refused = admin.post(f"/v1/moderation/messages/{post.pk}/approve", {})
    assert (refused.status, refused.json["status"]) == (409, "deleted")


def test_a_deletion_that_shows_a_long_thread_again_may_take_long() -> None:
    """All replies to a held post appear again in one statement."""
    post, held = MessageFactory(), MessageFactory(status="pending", held_after_reports=True)
    assert [may_take_long(message) for message in (post, held)] == [False, True]


def may_take_long(message: Message) -> bool:
    with CaptureQueriesContext(connection) as queries:
        assert delete(message).status == 200
    return any("statement_timeout" in query["sql"] for query in queries.captured_queries)


def test_a_deleted_post_is_gone_everywhere() -> None:
    community = CommunityFactory()
    mine = full_post(community=community)
    other = MessageFactory(page=mine.page, community=community)
    answer = delete(mine)
    assert (answer.status, answer.json) == (200, {"id": str(mine.pk), "deleted": True})
    assert Api().get(f"/api/messages/{mine.pk}").status == 404
    assert [message["id"] for message in listed(mine)] == [str(other.pk)], "only this one"
    assert Api().get("/v1/search", q="secret").json["messages"] == []
    assert Api().get(f"/v1/reactions/{mine.pk}").status == 404
    assert str(mine.pk).encode() not in Api().get(f"/feeds/pages/{mine.page_id}.json").body
    assert Api().get(f"/v1/communities/{community.pk}").json["posts"] == 1
    urls = {"urls": [mine.page.normalized_url]}
    assert Api().post("/v1/presence/counts", urls).json["counts"][0]["posts"] == 1
    assert Client().get(f"/p/{mine.pk}").status_code == 404
    assert delete(mine).status == 404


def test_the_row_has_no_content_and_the_last_version_is_stored() -> None:
    mine = full_post(parent=MessageFactory())
    delete(mine)
    row = Message.objects.get(pk=mine.pk)
    assert (row.status, row.content, row.attachments) == ("deleted", "", [])
    assert {row.tag_type, row.payload, row.anchor_text, row.context_anchor, row.language, row.source_app} == {None}
    version = MessageVersion.objects.get()
    assert (version.content["content"], version.content["payload"], version.was_public) == (
        "Secret words",
        {"text": "hidden"},
        True,
    )


def test_a_post_may_be_deleted_long_after_it_was_written(settings: Any) -> None:
    settings.EDIT_MINUTES = 0
    assert delete(MessageFactory()).status == 200


def test_the_counts_of_parent_and_quoted_post_fall() -> None:
    parent, quoted = MessageFactory(), MessageFactory()
    mine, _other = (MessageFactory(parent=parent, quote=quoted) for _ in range(2))
    delete(mine)
    parent.refresh_from_db()
    quoted.refresh_from_db()
    assert (parent.reply_count, quoted.quote_count) == (1, 1)


def test_ones_own_pending_post_is_deleted_without_a_change() -> None:
    parent = MessageFactory()
    mine = MessageFactory(parent=parent, status="pending")
    assert delete(mine).status == 200
    parent.refresh_from_db()
    assert parent.reply_count == 0
    assert Api().get("/v1/changes", pageId=mine.page_id).json["changes"] == []


def test_a_deletion_is_one_change_without_the_post() -> None:
    mine = MessageFactory()
    delete(mine)
    (change,) = Api().get("/v1/changes", pageId=mine.page_id).json["changes"]
    assert (change["type"], change["messageId"], change["message"]) == ("message.deleted", str(mine.pk), None)


def test_a_quote_of_a_deleted_post_keeps_its_id_only(django_capture_on_commit_callbacks: Any) -> None:
    mine = MessageFactory()
    quote = MessageFactory(quote=mine)
    assert listed(quote)[0]["quote"]["content"] == mine.content
    with django_capture_on_commit_callbacks(execute=True):
        delete(mine)
    assert (listed(quote)[0]["quote"], listed(quote)[0]["quoteId"]) == (None, str(mine.pk))


def reply_counts(*posts: Message) -> list[int]:
    counts = dict(Message.objects.values_list("pk", "reply_count"))
    return [counts[post.pk] for post in posts]


class TestRights:
    def test_only_the_author_deletes(self) -> None:
        mine = MessageFactory()
        for caller in (Api.as_person(PersonFactory()), Api.as_person(SuperAdminFactory()), agent_with_token().api):
            answer = delete(mine, caller)
            assert (answer.status, answer.error) == (403, "not_author")
        assert Message.objects.get().status == "published"

    def test_a_post_that_is_not_public_is_404_for_others_and_ones_own_hidden_one_too(self) -> None:
        stranger = Api.as_person(PersonFactory())
        for status in ("pending", "hidden", "deleted"):
            assert delete(MessageFactory(status=status), stranger).status == 404, status
        assert delete(MessageFactory(status="hidden")).status == 404
        for message_id in (str(uuid4()), "x"):
            assert stranger.delete(f"/api/messages/{message_id}").status == 404, message_id

    def test_an_agent_needs_the_scope_that_writing_the_post_needed(self) -> None:
        for scope, fields in (
            ("post", {}),
            ("reply", {"parent": MessageFactory()}),
            ("quote", {"quote": MessageFactory()}),
        ):
            agent = agent_with_token(scopes=[other for other in ("post", "reply", "quote") if other != scope])
            assert (
                delete(MessageFactory(author=agent.account, **fields), agent.api).error
                == f"agent_scope_missing:{scope}"
            )

    def test_a_retry_returns_the_first_response_while_the_agent_has_the_right(self) -> None:
        agent = agent_with_token()
        mine = MessageFactory(author=agent.account, parent=MessageFactory())
        first, again = (delete(mine, agent.api, key="k") for _ in range(2))
        assert (first.status, again.status, again.body) == (200, 200, first.body)
        assert again.headers["Idempotent-Replayed"] == "true"
        agent.agent.scopes = ["post"]
        agent.agent.save()
        assert delete(mine, agent.api, key="k").error == "agent_scope_missing:reply"


class TestTombstones:
    @pytest.fixture
    def post(self) -> Message:
        return full_post(quote=MessageFactory())

    def test_an_answered_post_stays_without_content_and_author(self, post: Message) -> None:
        MessageFactory(parent=post)
        delete(post)
        record = Api().get(f"/api/messages/{post.pk}").json
        assert (record["status"], record["content"], record["author"], record["attachments"]) == (
            "deleted",
            "",
            NOBODY,
            [],
        )
        empty = ("tagType", "payload", "anchorText", "contextAnchor", "language", "sourceApp", "quote", "quoteId")
        assert {record[name] for name in (*empty, "editedAt")} == {None}
        assert record["replyCount"] == 1
        assert listed(post) == [record]
        (change,) = Api().get("/v1/changes", pageId=post.page_id).json["changes"]
        assert (change["type"], change["message"]["status"]) == ("message.deleted", "deleted")

    def test_tombstones_are_listed_in_every_order(self, post: Message) -> None:
        reply = MessageFactory(parent=post)
        MessageFactory(parent=reply)
        delete(reply)
        delete(post)
        for sort in ("newest", "oldest", "reactions"):
            assert [message["status"] for message in listed(post, sort=sort)] == ["deleted"]
            assert [message["status"] for message in listed(post, sort=sort, parentId=post.pk)] == ["deleted"]
            assert len(listed(post, sort=sort, parentId=reply.pk)) == 1

    def test_it_is_counted_while_it_is_listed(self, post: Message) -> None:
        """Readers look for replies where there is a count."""
        reply = MessageFactory(parent=post)
        last, other = MessageFactory(parent=reply), MessageFactory(parent=post)
        delete(reply)
        assert reply_counts(post, reply) == [2, 1]
        delete(post)
        assert reply_counts(post, reply) == [2, 1]
        delete(last)
        assert reply_counts(post, reply) == [1, 0]
        delete(other)
        assert reply_counts(post, reply) == [0, 0]

    def test_the_migration_counts_those_of_before(self, post: Message) -> None:
        (operation,) = COUNTED.Migration.operations
        reply = MessageFactory(parent=post)
        last = MessageFactory(parent=reply)
        for statement in operation.reverse_sql:
            execute(statement)
        delete(reply)
        delete(post)
        assert reply_counts(post, reply) == [0, 1]
        for statement in operation.sql:
            execute(statement)
        assert reply_counts(post, reply) == [1, 1]
        assert [message["status"] for message in listed(post)] == ["deleted"]
        for statement in (*operation.reverse_sql, *operation.sql):
            execute(statement)
        delete(last)
        assert reply_counts(post, reply) == [0, 0]

    def test_nothing_can_be_done_to_a_tombstone(self, post: Message) -> None:
        MessageFactory(parent=post)
        delete(post)
        agent, target = agent_with_token().api, {"pageId": post.page_id, "content": "x"}
        assert delete(post).status == 404
        assert agent.post("/api/messages", target | {"parentId": str(post.pk)}).error == "parent_not_found"
        assert agent.post("/api/messages", target | {"quoteId": str(post.pk)}).error == "quote_not_found"
        assert agent.post("/v1/reactions", {"messageId": str(post.pk), "emoji": "👍"}).error == "message_not_found"
        for decide in (approve_message, hide_message, restore_message):
            with pytest.raises(NotInThisState):
                decide(message_id=post.pk, by=SuperAdminFactory())

    def test_it_disappears_with_its_last_reply_and_so_do_those_above(
        self, post: Message, django_capture_on_commit_callbacks: Any
    ) -> None:
        reply = MessageFactory(parent=post)
        last = MessageFactory(parent=reply)
        delete(post)
        delete(reply)
        shown = [post, reply, last]
        assert [Api().get(f"/api/messages/{message.pk}").status for message in shown] == [200] * 3
        with django_capture_on_commit_callbacks(execute=True):
            delete(last)
        assert [Api().get(f"/api/messages/{message.pk}").status for message in shown] == [404] * 3
        assert listed(post) == []

    def test_it_appears_and_disappears_with_an_approved_hidden_and_restored_reply(self, post: Message) -> None:
        reply, boss = MessageFactory(parent=post, status="pending"), SuperAdminFactory()
        delete(post)
        assert listed(post) == []
        for decide, shown in ((approve_message, ["deleted"]), (hide_message, []), (restore_message, ["deleted"])):
            decide(message_id=reply.pk, by=boss)
            assert [message["status"] for message in listed(post)] == shown

    def test_it_is_no_top_reply_and_in_no_feed(self, post: Message) -> None:
        reply = MessageFactory(parent=post)
        MessageFactory(parent=reply)
        delete(reply)
        assert listed(post, includeTopReply="true")[0]["topReply"] is None
        assert str(reply.pk).encode() not in Api().get(f"/feeds/pages/{post.page_id}.json").body

    def test_its_permalink_shows_the_thread(self, post: Message) -> None:
        reply = MessageFactory(parent=post, content="Still here")
        delete(post)
        html = Client().get(f"/p/{post.pk}").content.decode()
        assert "Still here" in html
        assert "This post was deleted" in html
        assert post.author.handle not in html
        assert reply.author.handle in html
