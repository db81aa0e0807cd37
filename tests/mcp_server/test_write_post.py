"""write_post: createMessage by URL, exactly once for a call and its retries."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import F

from kernel.writes.models import RateLimitEvent, StoredResponse
from messaging.models import Message
from messaging.moderation.services import hide_message
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory
from tests.mcp_server.rpc import Mcp

pytestmark = pytest.mark.django_db
URL = "https://blog.example/posts/1"


def age_stored_responses(**by: int) -> None:
    StoredResponse.objects.update(created_at=F("created_at") - timedelta(**by))


def test_posts_on_the_page_of_the_url() -> None:
    agent = agent_with_token()
    content = Mcp(agent.api).call("write_post", url=f"{URL}?utm_source=x", content="Hello.").content
    message = Message.objects.get()
    assert (str(message.pk), message.content, message.author_id) == (content["postId"], "Hello.", agent.account.pk)
    assert (content["pageUrl"], content["status"], content["replayed"]) == (URL, "published", False)
    assert content["remaining"] == {"post": 29}
    assert "content" not in content


def test_replies_and_quotes() -> None:
    mcp = Mcp(agent_with_token().api)
    first = mcp.call("write_post", url=URL, content="First.").content["postId"]
    reply = mcp.call("write_post", url=URL, content="Reply.", replyTo=first).content
    quote = mcp.call("write_post", url="https://other.example", content="", quote=first).content
    assert (reply["replyTo"], quote["quote"]) == (first, {"postId": first})
    assert quote["remaining"] == {"quote": 29}


def test_a_smart_tag_with_its_payload() -> None:
    mcp = Mcp(agent_with_token().api)
    payload = {"rating": 4}
    content = mcp.call("write_post", url=URL, content="Good.", tagType="review", payload=payload).content
    assert Message.objects.get(pk=content["postId"]).payload == payload
    refused = mcp.call("write_post", url=URL, content="Good.", tagType="review", payload={"rating": "x"})
    assert refused.error == "invalid_payload"
    assert refused.refusal["details"]


def test_a_person_posts_with_a_user_token() -> None:
    person = PersonFactory()
    content = Mcp(Api.as_person(person)).call("write_post", url=URL, content="Hello.").content
    assert Message.objects.get(pk=content["postId"]).author_id == person.pk
    assert "remaining" not in content


class TestRefusals:
    def test_are_those_of_the_api_and_write_nothing(self) -> None:
        mcp = Mcp(agent_with_token().api)
        refused = {
            "invalid_url": {"url": "nowhere", "content": "x"},
            "content_too_long": {"url": URL, "content": "x" * 20_001},
            "empty_message": {"url": URL, "content": "  "},
            "parent_not_found": {"url": URL, "content": "x", "replyTo": str(uuid4())},
            "quote_not_found": {"url": URL, "content": "x", "quote": str(uuid4())},
            "community_not_found": {"url": URL, "content": "x", "communityId": str(uuid4())},
            "invalid_idempotency_key": {"url": URL, "content": "x", "idempotencyKey": "ключ"},
        }
        assert {error: mcp.call("write_post", **arguments).error for error, arguments in refused.items()} == {
            error: error for error in refused
        }
        assert not Message.objects.exists()

    def test_a_cap_names_its_field_and_maximum(self) -> None:
        refusal = Mcp(agent_with_token().api).call("write_post", url=URL, content="x" * 20_001).refusal
        assert (refusal["field"], refusal["max"]) == ("content", 20_000)

    def test_a_missing_scope_is_named(self) -> None:
        mcp = Mcp(agent_with_token(scopes=["post"]).api)
        post = mcp.call("write_post", url=URL, content="x").content["postId"]
        refused = mcp.call("write_post", url=URL, content="x", replyTo=post)
        assert refused.error == "agent_scope_missing:reply"
        assert (refused.refusal["needed"], refused.refusal["allowed"]) == (["reply"], ["post"])

    def test_a_limited_agent_writes_in_its_communities_only(self) -> None:
        mine, other = CommunityFactory(), CommunityFactory()
        mcp = Mcp(agent_with_token(community_ids=[mine.pk]).api)
        for fields in ({}, {"communityId": str(other.pk)}):
            refused = mcp.call("write_post", url=URL, content="x", **fields)
            assert (refused.error, refused.refusal["allowed"]) == ("agent_community_not_allowed", [str(mine.pk)])
        assert mcp.call("write_post", url=URL, content="x", communityId=str(mine.pk)).content["postId"]

    def test_word_lists_apply(self) -> None:
        community = CommunityFactory(blocked_words=["forbidden"])
        mcp = Mcp(agent_with_token().api)
        refused = mcp.call("write_post", url=URL, content="A forbidden word.", communityId=str(community.pk))
        assert refused.error == "content_blocked"

    def test_the_hourly_limit_applies_and_says_when_to_go_on(self, settings: Any) -> None:
        settings.HOURLY_LIMITS = settings.HOURLY_LIMITS | {"post": 2}
        mcp = Mcp(agent_with_token().api)
        for number in range(2):
            assert mcp.call("write_post", url=URL, content=f"{number}").content["remaining"] == {"post": 1 - number}
        refusal = mcp.call("write_post", url=URL, content="3").refusal
        assert (refusal["error"], refusal["counter"]) == ("agent_rate_limited", "post")
        assert 3590 < refusal["retryAfter"] <= 3600


class TestPostsThatAreGone:
    def test_a_deleted_post_is_written_again_and_that_is_once(self) -> None:
        mcp = Mcp(agent_with_token().api)
        seen = []
        for _ in range(3):
            written = mcp.call("write_post", url=URL, content="Again.").content
            assert (written["replayed"], written["status"]) == (False, "published")
            again = mcp.call("write_post", url=URL, content="Again.").content
            assert (again["replayed"], again["postId"]) == (True, written["postId"])
            mcp.call("delete_post", postId=written["postId"])
            assert mcp.call("read_post", postId=written["postId"]).error == "message_not_found"
            seen.append(written["postId"])
        assert len(set(seen)) == RateLimitEvent.objects.count() == 3

    def test_a_deleted_post_with_replies_is_written_again(self) -> None:
        agent = agent_with_token()
        mcp = Mcp(agent.api)
        first = mcp.call("write_post", url=URL, content="Again.").content["postId"]
        mcp.call("write_post", url=URL, content="A reply.", replyTo=first)
        mcp.call("delete_post", postId=first)
        assert mcp.call("write_post", url=URL, content="Again.").content["replayed"] is False

    def test_an_edited_post_is_written_again(self) -> None:
        mcp = Mcp(agent_with_token().api)
        first = mcp.call("write_post", url=URL, content="Again.").content["postId"]
        mcp.call("edit_post", postId=first, content="Other.")
        again = mcp.call("write_post", url=URL, content="Again.").content
        assert (again["replayed"], again["postId"] != first) == (False, True)
        assert sorted(Message.objects.values_list("content", flat=True)) == ["Again.", "Other."]

    def test_a_key_of_the_client_is_never_changed(self) -> None:
        mcp = Mcp(agent_with_token().api)
        arguments = {"url": URL, "content": "Again.", "idempotencyKey": "a"}
        first = mcp.call("write_post", **arguments).content["postId"]
        mcp.call("delete_post", postId=first)
        assert mcp.call("write_post", **arguments).content["postId"] == first

    def test_a_post_that_a_moderator_has_hidden_is_not_written_again(self) -> None:
        mcp = Mcp(agent_with_token().api)
        first = mcp.call("write_post", url=URL, content="Again.").content["postId"]
        hide_message(message_id=Message.objects.get().pk, by=SuperAdminFactory())
        assert mcp.call("write_post", url=URL, content="Again.").content["postId"] == first


class TestRetries:
    def test_the_same_call_is_a_retry_and_says_so(self) -> None:
        mcp = Mcp(agent_with_token().api)
        first = mcp.call("write_post", url=URL, content="Once.").content
        again = mcp.call("write_post", url=URL, content="Once.").content
        assert again == first | {"replayed": True}
        assert Message.objects.count() == RateLimitEvent.objects.count() == 1

    def test_another_url_of_the_page_is_the_same_call(self) -> None:
        mcp = Mcp(agent_with_token().api)
        mcp.call("write_post", url=URL, content="Once.")
        assert mcp.call("write_post", url=f"{URL}/#top", content="Once.").content["replayed"] is True

    @pytest.mark.parametrize("change", [{"url": "https://other.example"}, {"content": "Twice."}, {"tagType": "note"}])
    def test_other_arguments_are_another_post(self, change: dict[str, str]) -> None:
        mcp = Mcp(agent_with_token().api)
        arguments = {"url": URL, "content": "Once."}
        assert mcp.call("write_post", **arguments).content["replayed"] is False
        assert mcp.call("write_post", **(arguments | change)).content["replayed"] is False

    def test_the_same_call_of_another_account_is_another_post(self) -> None:
        for _ in range(2):
            content = Mcp(agent_with_token().api).call("write_post", url=URL, content="Hello.").content
            assert content["replayed"] is False

    def test_a_derived_key_holds_for_ten_minutes(self) -> None:
        mcp = Mcp(agent_with_token().api)
        first = mcp.call("write_post", url=URL, content="Again.").content["postId"]
        age_stored_responses(minutes=9)
        assert mcp.call("write_post", url=URL, content="Again.").content["postId"] == first
        age_stored_responses(minutes=2)
        later = mcp.call("write_post", url=URL, content="Again.").content
        assert (later["postId"] != first, later["replayed"]) == (True, False)
        assert mcp.call("write_post", url=URL, content="Again.").content["postId"] == later["postId"]

    def test_the_ten_minutes_begin_with_the_last_post_of_the_text(self) -> None:
        mcp = Mcp(agent_with_token().api)
        first = mcp.call("write_post", url=URL, content="Again.").content["postId"]
        mcp.call("delete_post", postId=first)
        age_stored_responses(minutes=9)
        second = mcp.call("write_post", url=URL, content="Again.").content["postId"]
        for _ in range(2):
            age_stored_responses(minutes=4)
            again = mcp.call("write_post", url=URL, content="Again.").content
            assert (again["postId"], again["replayed"]) == (second, True)
        age_stored_responses(minutes=4)
        assert mcp.call("write_post", url=URL, content="Again.").content["replayed"] is False

    def test_keys_write_the_same_text_twice(self) -> None:
        mcp = Mcp(agent_with_token().api)
        calls = [mcp.call("write_post", url=URL, content="Same.", idempotencyKey=key).content for key in "aba"]
        assert [call["replayed"] for call in calls] == [False, False, True]
        assert calls[0]["postId"] == calls[2]["postId"] != calls[1]["postId"]

    def test_a_key_of_the_client_holds_for_seven_days(self) -> None:
        mcp = Mcp(agent_with_token().api)
        mcp.call("write_post", url=URL, content="Same.", idempotencyKey="a")
        age_stored_responses(days=6)
        assert mcp.call("write_post", url=URL, content="Same.", idempotencyKey="a").content["replayed"] is True

    def test_a_reused_key_warns_that_nothing_was_written(self) -> None:
        mcp = Mcp(agent_with_token().api)
        first = mcp.call("write_post", url=URL, content="One.", idempotencyKey="a").content
        again = mcp.call("write_post", url=URL, content="Two.", idempotencyKey="a").content
        assert (again["postId"], again["replayed"]) == (first["postId"], True)
        assert "nothing was written" in again["warning"]
        assert "warning" not in first

    def test_a_key_is_the_one_of_the_api(self) -> None:
        agent = agent_with_token()
        content = Mcp(agent.api).call("write_post", url=URL, content="One.", idempotencyKey="shared").content
        body = {"pageId": Message.objects.get().page_id, "content": "One."}
        answer = agent.api.post("/api/messages", body, key="shared")
        assert (answer.json["id"], answer.headers["Idempotent-Replayed"]) == (content["postId"], "true")

    def test_a_refused_call_may_be_sent_again(self) -> None:
        community = CommunityFactory(blocked_words=["bad"])
        mcp = Mcp(agent_with_token().api)
        arguments = {"url": URL, "content": "A bad word.", "communityId": str(community.pk)}
        assert mcp.call("write_post", **arguments).error == "content_blocked"
        community.blocked_words = []
        community.save()
        assert mcp.call("write_post", **arguments).content["replayed"] is False

    def test_a_key_header_of_the_mcp_request_has_no_effect(self) -> None:
        mcp = Mcp(agent_with_token().api)
        for content in ("One.", "Two."):
            arguments = {"name": "write_post", "arguments": {"url": URL, "content": content}}
            answer = mcp.send("tools/call", arguments, headers={"Idempotency-Key": "one"})
            assert answer.json["result"]["structuredContent"]["replayed"] is False


def test_a_dry_run_never_posts() -> None:
    mcp = Mcp(agent_with_token().api)
    mcp.call("write_post", url=URL, content="Only a trial.", dryRun=True)
    assert not Message.objects.exists()
