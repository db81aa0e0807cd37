"""The tools that read: whoami, read_page, read_post, search, inbox and reference."""

from __future__ import annotations

from typing import Any

import pytest

from messaging.models import Page
from messaging.smart_tags import SMART_TAGS
from reactions.models import Reaction
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory
from tests.mcp_server.rpc import Mcp

pytestmark = pytest.mark.django_db
URL = "https://blog.example/posts/1"


def messages_of(content: dict[str, Any]) -> list[str]:
    return [message["postId"] for message in content["untrusted"]["messages"]]


def a_post(url: str = URL, **fields: Any) -> Any:
    """A post that was written through the API."""
    api = agent_with_token().api
    page_id = api.post("/v1/presence/normalize-url", {"url": url}).json["pageId"]
    answer = api.post("/api/messages", {"pageId": page_id, "content": "Hello there.", **fields})
    assert answer.status == 201, answer
    return answer.json


class TestReadPage:
    def test_reads_by_any_url_of_the_page(self) -> None:
        post = a_post()
        for url in (URL, "http://www.blog.example/posts/1/?utm_source=mail"):
            assert messages_of(Mcp().call("read_page", url=url).content) == [post["id"]]

    def test_lists_replies_of_a_post(self) -> None:
        post = a_post()
        reply = a_post(parentId=post["id"])
        assert messages_of(Mcp().call("read_page", url=URL, replyTo=post["id"]).content) == [reply["id"]]

    def test_follows_cursors_until_the_end(self) -> None:
        posts = [a_post()["id"] for _ in range(3)]
        first = Mcp().call("read_page", url=URL, limit=2).content
        assert (messages_of(first), first["hasMore"]) == ([posts[2], posts[1]], True)
        last = Mcp().call("read_page", url=URL, limit=2, cursor=first["nextCursor"]).content
        assert (messages_of(last), last["hasMore"], "nextCursor" in last) == ([posts[0]], False, False)

    def test_stores_nothing(self) -> None:
        content = Mcp().call("read_page", url="https://new.example/").content
        assert (content["untrusted"], content["hasMore"]) == ({"messages": [], "communities": []}, False)
        assert not Page.objects.exists()

    def test_leaves_out_empty_fields(self) -> None:
        a_post()
        (message,) = Mcp().call("read_page", url=URL).content["untrusted"]["messages"]
        assert message["content"] == "Hello there."
        assert message["replyCount"] == 0
        assert not [name for name, value in message.items() if value in (None, "", [], {})]

    def test_bad_arguments_are_refused_in_band(self) -> None:
        for arguments, error in [
            ({"url": "blog.example"}, "invalid_url"),
            ({"url": "ftp://blog.example/"}, "invalid_url"),
            ({"url": ""}, "invalid_url"),
            ({"url": f"https://blog.example/{'a' * 3000}"}, "invalid_url"),
            ({"url": URL, "limit": 0}, "invalid_input"),
            ({"url": URL, "cursor": "x"}, "invalid_cursor"),
            ({"url": URL, "replyTo": "x"}, "invalid_input"),
            ({}, "invalid_input"),
            ({"url": 1}, "invalid_input"),
            ({"url": URL, "limit": "2"}, "invalid_input"),
            ({"url": URL, "limit": True}, "invalid_input"),
            ({"url": URL, "pageId": "p1_x"}, "invalid_input"),
        ]:
            result = Mcp().call("read_page", **arguments)
            assert result.error == error, (arguments, error)
            assert result.refusal["message"], (arguments, error)

    def test_null_is_an_absent_optional_argument(self) -> None:
        post = a_post()
        result = Mcp().call("read_page", url=URL, replyTo=None, cursor=None, limit=None)
        assert messages_of(result.content) == [post["id"]]


class TestReadPost:
    def test_returns_the_post(self) -> None:
        post = a_post()
        assert Mcp().call("read_post", postId=post["id"]).content["untrusted"]["message"]["content"] == "Hello there."

    def test_an_unknown_id_is_not_found(self) -> None:
        for unknown in ["x", "0194a1c0-0000-7000-8000-000000000001", "../v1/agent/self", "", "%2e%2e"]:
            assert Mcp().call("read_post", postId=unknown).error == "message_not_found", unknown

    def test_an_id_never_becomes_another_path(self) -> None:
        post = a_post()
        for suffix in ("/", "?x=1", "#", "/../..", "\n"):
            assert Mcp().call("read_post", postId=post["id"] + suffix).error == "message_not_found"


class TestSearch:
    def test_finds_posts_on_all_pages_and_on_one(self) -> None:
        here, elsewhere = a_post(content="A lighthouse."), a_post("https://other.example/", content="The lighthouse.")
        assert set(messages_of(Mcp().call("search", query="lighthouse").content)) == {here["id"], elsewhere["id"]}
        assert messages_of(Mcp().call("search", query="lighthouse", url=URL).content) == [here["id"]]

    @pytest.mark.parametrize("query", ["", "x" * 300])
    def test_a_query_of_another_length_is_refused(self, query: str) -> None:
        assert Mcp().call("search", query=query).error == "invalid_input"


class TestWhoami:
    def test_of_an_agent_has_scopes_and_remaining_writes(self) -> None:
        agent = agent_with_token(scopes=["post"])
        content = Mcp(agent.api).call("whoami").content
        assert content["account"]["handle"] == agent.account.handle
        assert content["scopes"] == ["post"]
        assert content["limits"]["post"]["remaining"] == 30
        assert content["operator"] == {"handle": agent.request.requester.handle}

    def test_of_a_person_has_the_account(self) -> None:
        person = PersonFactory()
        content = Mcp(Api.as_person(person)).call("whoami").content
        assert content["account"] == {"id": str(person.pk), "handle": person.handle, "kind": "human"}


class TestInbox:
    def test_lists_what_concerns_the_account_once(self) -> None:
        agent = agent_with_token()
        mcp = Mcp(agent.api)
        mine = mcp.call("write_post", url=URL, content="Mine.").content["postId"]
        answer = a_post(parentId=mine)
        content = mcp.call("inbox").content
        (event,) = [event for event in content["untrusted"]["events"] if event["type"] == "reply"]
        assert (event["postId"], event["aboutId"]) == (answer["id"], mine)
        assert mcp.call("inbox", cursor=content["nextCursor"]).content["untrusted"] == {"events": []}


class TestReference:
    def test_tags_have_their_schemas(self) -> None:
        tags = Mcp().call("reference", topic="tags").content["smartTags"]
        assert [tag["type"] for tag in tags] == list(SMART_TAGS)
        assert all(tag["payloadSchema"] for tag in tags)

    def test_communities_are_those_of_a_limited_token(self) -> None:
        mine, _other = CommunityFactory(), CommunityFactory()
        everyone = Mcp().call("reference", topic="communities").content["untrusted"]["communities"]
        assert len(everyone) == 2
        limited = Mcp(agent_with_token(community_ids=[mine.pk]).api)
        (only,) = limited.call("reference", topic="communities").content["untrusted"]["communities"]
        assert only["id"] == str(mine.pk)

    def test_limits_are_those_of_the_service(self, settings: Any) -> None:
        assert Mcp().call("reference", topic="limits").content["agentWrites"] == settings.HOURLY_LIMITS

    def test_another_topic_is_refused(self) -> None:
        assert Mcp().call("reference", topic="secrets").error == "invalid_input"


def test_reading_changes_nothing() -> None:
    post = MessageFactory()
    mcp = Mcp(agent_with_token().api)
    mcp.call("read_post", postId=str(post.pk))
    post.refresh_from_db()
    assert (post.reply_count, Reaction.objects.count()) == (0, 0)
