"""Results fit into the tokens that a client allows, in the names of the tools; inbox, my_posts and pulse."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.changes.log import NewChange, append
from mcp_server.results import CHARACTERS_PER_TOKEN, TOKENS
from messaging.changes.types import InboxType
from messaging.models import Message
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory
from tests.mcp_server.rpc import Mcp, Result

pytestmark = pytest.mark.django_db
LONG = 'A "lighthouse"\n' * 1_300


def tokens(result: Result) -> float:
    return len(result.text) / CHARACTERS_PER_TOKEN


@pytest.fixture
def agent() -> TokenHolder:
    return agent_with_token()


@pytest.fixture
def posts(agent: TokenHolder) -> list[Message]:
    """Posts of the agent as long as posts may be, each quoting the one before, oldest first."""
    page = PageFactory(url=f"https://blog.example/{'long/' * 300}end")
    made: list[Message] = []
    for _ in range(12):
        fields = {"content": LONG, "anchor_text": LONG[:2_000], "tag_type": "note", "payload": {"text": "x" * 10_000}}
        quote = made[-1] if made else None
        made.append(MessageFactory(author=agent.account, page=page, quote=quote, **fields))
    changes = [
        NewChange(type=InboxType.MENTION, page_id=page.pk, message_id=post.pk, account_id=agent.account.pk)
        for post in made
    ]
    append(changes)
    return made


def calls(posts: list[Message]) -> list[tuple[str, dict[str, Any], str]]:
    """The tools that list, with arguments and the name of their list."""
    return [
        ("read_page", {"url": posts[0].page.normalized_url}, "messages"),
        ("search", {"query": "lighthouse"}, "messages"),
        ("my_posts", {}, "messages"),
        ("inbox", {}, "events"),
    ]


class TestBudget:
    def test_no_list_is_longer_than_the_tokens_that_are_allowed(self, agent: TokenHolder, posts: list[Message]) -> None:
        mcp = Mcp(agent.api)
        for tool, arguments, name in calls(posts):
            counts = []
            for allowed in (500, 2_000, None, 20_000):
                result = mcp.call(tool, limit=100, maxTokens=allowed, **arguments)
                assert tokens(result) <= (allowed or TOKENS), (tool, allowed)
                counts.append(len(result.content["untrusted"][name]))
            assert 1 <= counts[0] < counts[2] < counts[3] >= len(posts), (tool, counts)

    def test_cursors_lead_to_each_item_once(self, agent: TokenHolder, posts: list[Message]) -> None:
        mcp = Mcp(agent.api)
        for tool, arguments, name in calls(posts):
            found: list[str] = []
            sent: dict[str, Any] = {"maxTokens": 1_500, **arguments}
            while True:
                content = mcp.call(tool, **sent).content
                found += [
                    each["postId"] for each in content["untrusted"][name] if "message" in each or name == "messages"
                ]
                if not content["hasMore"]:
                    break
                sent["cursor"] = content["nextCursor"]
            oldest_first = [str(post.pk) for post in posts]
            assert sorted(found) == oldest_first, tool
            assert tool != "read_page" or found == oldest_first[::-1]

    def test_a_long_text_of_a_list_is_cut_and_says_so(self, agent: TokenHolder, posts: list[Message]) -> None:
        short = str(MessageFactory(page=posts[0].page, content="Short.").pk)
        content = Mcp(agent.api).call("read_page", url=posts[0].page.normalized_url, limit=2).content
        first, second = content["untrusted"]["messages"]
        assert (first["postId"], first["content"], "truncated" in first) == (short, "Short.", False)
        assert (second["content"], second["truncated"], "payload" in second) == (LONG[:600], True, False)
        assert second["quote"]["content"] == LONG[:600]

    def test_a_post_alone_is_whole_as_far_as_it_fits(self, agent: TokenHolder, posts: list[Message]) -> None:
        mcp = Mcp(agent.api)
        whole = str(MessageFactory(content="word " * 4_000).pk)
        content = mcp.call("read_post", postId=whole).content["untrusted"]["message"]
        assert (content["content"], "truncated" in content) == ("word " * 4_000, False)
        for allowed in (500, 2_000, None):
            result = mcp.call("read_post", postId=str(posts[-1].pk), maxTokens=allowed)
            assert tokens(result) <= (allowed or TOKENS), allowed
            message = result.content["untrusted"]["message"]
            assert LONG.startswith(message["content"]), allowed
            assert message["truncated"], allowed
        message = mcp.call("read_post", postId=str(posts[-1].pk), maxTokens=20_000).content["untrusted"]["message"]
        assert ("truncated" in message, message["payload"]) == (False, posts[-1].payload)

    def test_the_communities_of_a_service_are_listed_in_parts(self) -> None:
        ids = {str(CommunityFactory(name=f"{number:03} {'x' * 90}").pk) for number in range(90)}
        first = Mcp().call("reference", topic="communities")
        assert tokens(first) <= TOKENS
        second = Mcp().call("reference", topic="communities", cursor=first.content["nextCursor"])
        listed = [each["id"] for part in (first, second) for each in part.content["untrusted"]["communities"]]
        assert (set(listed), len(listed), second.content["hasMore"]) == (ids, len(ids), False)

    @pytest.mark.parametrize("sent", [499, 20_001, "600", 0, True, 600.5])
    def test_other_budgets_are_refused(self, sent: Any) -> None:
        refusal = Mcp().call("search", query="word", maxTokens=sent).refusal
        assert (refusal["error"], refusal["field"]) == ("invalid_input", "maxTokens")
        assert refusal["message"] == "Correct `maxTokens`: send a whole number from 500 to 20,000."


class TestInbox:
    @pytest.fixture
    def mcp(self, agent: TokenHolder) -> Mcp:
        """The agent has a reply, a mention and a reply, unread; another agent has a mention."""
        Mcp(agent.api).call("inbox", ack=Mcp(agent.api).call("inbox").content["nextCursor"])
        bystander = agent_with_token()
        types = (InboxType.REPLY, InboxType.MENTION, InboxType.REPLY)
        changes = [
            NewChange(type=each, message_id=MessageFactory().pk, account_id=agent.account.pk, data={"reason": each})
            for each in types
        ]
        append([*changes, NewChange(type=InboxType.MENTION, account_id=bystander.account.pk)])
        return Mcp(agent.api)

    @staticmethod
    def types(content: dict[str, Any]) -> list[str]:
        return [event["type"] for event in content["untrusted"]["events"]]

    def test_begins_with_what_is_unread_until_it_is_acknowledged(self, mcp: Mcp) -> None:
        first = mcp.call("inbox", limit=2).content
        assert (self.types(first), first["unread"], first["hasMore"]) == (["reply", "mention"], 3, True)
        # Another call lists the same: nothing is lost with a result that did not arrive.
        assert mcp.call("inbox", limit=2).content == first
        rest = mcp.call("inbox", ack=first["nextCursor"]).content
        assert (self.types(rest), rest["unread"]) == (["reply"], 1)
        assert mcp.call("inbox", ack=rest["nextCursor"]).content["untrusted"] == {"events": []}
        # A cursor lists what follows it, also what is read.
        assert self.types(mcp.call("inbox", cursor=first["untrusted"]["events"][0]["id"]).content) == [
            "mention",
            "reply",
        ]
        assert mcp.call("pulse").content["unread"] == 0

    def test_lists_the_types_that_are_asked_for_and_marks_nothing_by_their_cursor(self, mcp: Mcp) -> None:
        replies = mcp.call("inbox", types=["reply", "quote"]).content
        assert self.types(replies) == ["reply", "reply"]
        refusal = mcp.call("inbox", ack=replies["nextCursor"]).refusal
        assert (refusal["error"], refusal["field"]) == ("invalid_cursor", "ack")
        assert "of a call without types" in refusal["message"]
        assert mcp.call("pulse").content["unread"] == 3

    def test_refuses_what_it_cannot_do(self, mcp: Mcp) -> None:
        of_another = Mcp(agent_with_token().api).call("inbox").content["nextCursor"]
        for arguments, error, field in [
            ({"ack": of_another}, "invalid_cursor", "ack"),
            ({"ack": "x"}, "invalid_cursor", "ack"),
            ({"ack": ""}, "invalid_cursor", "ack"),
            ({"ack": True}, "invalid_input", "ack"),
            ({"types": ["nothing"]}, "invalid_input", "types"),
            ({"types": "reply"}, "invalid_input", "types"),
            ({"types": []}, "invalid_input", "types"),
            ({"limit": 0}, "invalid_input", "limit"),
            ({"cursor": "x"}, "invalid_cursor", "cursor"),
        ]:
            refusal = mcp.call("inbox", **arguments).refusal
            assert (refusal["error"], refusal["field"]) == (error, field), (arguments, refusal)
        assert mcp.call("pulse").content["unread"] == 3


def test_my_posts_are_ones_own_in_every_state(agent: TokenHolder) -> None:
    MessageFactory()
    states = ("published", "pending", "hidden", "deleted")
    ids = {status: str(MessageFactory(author=agent.account, status=status).pk) for status in states}
    mcp = Mcp(agent.api)
    listed = mcp.call("my_posts").content["untrusted"]["messages"]
    assert {each["status"]: each["postId"] for each in listed} == ids
    for status in states:
        (only,) = mcp.call("my_posts", status=status).content["untrusted"]["messages"]
        assert only["postId"] == ids[status]
    assert mcp.call("my_posts", status="draft").refusal["allowed"] == sorted(states)
    assert Mcp(Api.as_person(PersonFactory())).call("my_posts").content["untrusted"]["messages"] == []
    for tool in ("my_posts", "pulse"):
        assert Mcp().call(tool).error == "not_authenticated"


def test_an_agent_with_nothing_to_do_pays_few_tokens(agent: TokenHolder) -> None:
    mcp = Mcp(agent.api)
    mcp.call("inbox", ack=mcp.call("inbox").content["nextCursor"])
    assert tokens(mcp.call("pulse")) < 60
    assert tokens(mcp.call("inbox")) < 100
    assert mcp.call("pulse").content["limits"] == {"post": 30, "quote": 30, "react": 120, "reply": 30}


def test_names_are_those_of_the_arguments(agent: TokenHolder) -> None:
    """A field of a result can be sent as the argument of the same name."""
    mcp, url = Mcp(agent.api), "https://blog.example/posts/1"
    first = mcp.call("write_post", url=url, content="First.").content["postId"]
    quoted = mcp.call("write_post", url=url, content="Quoted.").content["postId"]
    answer = mcp.call("write_post", url=url, content="An answer.", replyTo=first, quote=quoted).content
    assert (answer["replyTo"], answer["quote"]) == (first, {"postId": quoted})
    message = mcp.call("read_post", postId=answer["postId"]).content["untrusted"]["message"]
    assert (message["postId"], message["replyTo"], message["quote"]["postId"]) == (answer["postId"], first, quoted)
    mcp.call("delete_post", postId=quoted)
    message = mcp.call("read_post", postId=answer["postId"]).content["untrusted"]["message"]
    assert message["quote"] == {"postId": quoted}
    assert not message.keys() & {"id", "parentId", "quoteId", "pageId"}
