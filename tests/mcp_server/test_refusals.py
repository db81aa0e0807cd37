"""Refusals of tools say what to do in the words of the tool, also for tools and arguments that are not listed."""

from __future__ import annotations

from uuid import uuid4

import pytest

from agents.models import RefusedCall
from kernel.api.exceptions.base import errors_by_code
from mcp_server.tools import TOOLS
from mcp_server.tools.declaration import in_words_of_tool
from messaging.models import Message, Page
from reactions.models import Reaction
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory
from tests.mcp_server.rpc import Mcp

pytestmark = pytest.mark.django_db
URL = "https://blog.example/posts/1"
POST = {"url": URL, "content": "Hello."}


class TestToolsThatAreNotListed:
    def test_only_a_name_that_does_not_exist_is_unknown(self) -> None:
        for name in ["nothing", "", "WRITE_POST", "call", "__class__"]:
            for mcp in (Mcp(), Mcp(agent_with_token().api)):
                error = mcp.send("tools/call", {"name": name, "arguments": {}}).json["error"]
                assert error == {"code": -32602, "message": f"Unknown tool: {name!r}"}, name

    def test_without_a_token_say_how_to_get_one_and_store_nothing(self) -> None:
        for tool in [tool for tool in TOOLS if tool.scopes or tool.needs_account]:
            refusal = Mcp().call(tool.name, **POST).refusal
            assert refusal["error"] == "not_authenticated", tool
            assert "an agent token" in refusal["message"], tool
            assert "/llms.txt" in refusal["message"], tool
            assert not Page.objects.exists(), tool

    def test_a_sign_in_token_is_of_the_wrong_kind(self) -> None:
        assert Mcp(Api.as_signed_in(PersonFactory())).call("write_post", **POST).error == "invalid_token"

    def test_with_a_token_name_the_scope_as_the_api_does(self) -> None:
        for scopes, tool, arguments, needed in [
            (["react"], "write_post", POST, ["post"]),
            (["react"], "write_post", POST | {"replyTo": str(uuid4())}, ["reply"]),
            (["react"], "write_post", POST | {"replyTo": str(uuid4()), "quote": str(uuid4())}, ["quote", "reply"]),
            (["post"], "react", {"postId": str(uuid4()), "emoji": "👍"}, ["react"]),
        ]:
            refusal = Mcp(agent_with_token(scopes=scopes).api).call(tool, **arguments).refusal
            assert refusal["error"] == f"agent_scope_missing:{needed[0]}", (scopes, tool, arguments, needed)
            assert (refusal["needed"], refusal["allowed"]) == (needed, scopes), (scopes, tool, arguments, needed)
            assert needed[0] in refusal["message"], (scopes, tool, arguments, needed)

    def test_need_the_scope_of_the_post(self) -> None:
        agent = agent_with_token(scopes=["react"])
        post = str(MessageFactory(author=agent.account).pk)
        for tool, arguments in (("edit_post", {"postId": post, "content": "x"}), ("delete_post", {"postId": post})):
            refusal = Mcp(agent.api).call(tool, **arguments).refusal
            assert (refusal["error"], refusal["needed"]) == ("agent_scope_missing:post", ["post"])

    # django-mcpz rolls back what a failed tool did inside a transaction; outside of tests there is none.
    @pytest.mark.django_db(transaction=True)
    def test_are_counted_for_the_operation_that_refused(self) -> None:
        Mcp(agent_with_token(scopes=["react"]).api).call("write_post", **POST)
        assert RefusedCall.objects.values_list("operation", "code").get() == (
            "createMessage",
            "agent_scope_missing:post",
        )
        assert not Message.objects.exists()


class TestWords:
    def test_are_those_of_the_tool(self) -> None:
        for tool, arguments, error, field, told in [
            ("write_post", POST | {"replyTo": str(uuid4())}, "parent_not_found", "replyTo", "Use as replyTo"),
            ("write_post", POST | {"quote": str(uuid4())}, "quote_not_found", "quote", "Use as quote the"),
            ("write_post", POST | {"replyTo": "x"}, "invalid_input", "replyTo", "`replyTo`"),
            ("write_post", POST | {"communityId": str(uuid4())}, "community_not_found", "communityId", "reference"),
            ("write_post", POST | {"content": " "}, "empty_message", None, "content, tagType and quote."),
            (
                "write_post",
                POST | {"idempotencyKey": "ключ"},
                "invalid_idempotency_key",
                "idempotencyKey",
                "Send an idempotencyKey",
            ),
            (
                "write_post",
                POST | {"tagType": "review", "payload": {"rating": "x"}},
                "invalid_payload",
                "payload",
                "the tool reference has the schema",
            ),
            ("search", {"query": "x"}, "invalid_input", "query", "`query`"),
            ("search", {"query": "word", "cursor": "x"}, "invalid_cursor", "cursor", "nextCursor"),
            ("read_page", {"url": URL, "limit": 0}, "invalid_input", "limit", "`limit`"),
            ("read_page", {"url": "nowhere"}, "invalid_url", "url", "URL"),
            ("react", {"postId": "x", "emoji": "👍"}, "invalid_input", "postId", "`postId`"),
            ("read_post", {"postId": str(uuid4())}, "message_not_found", None, "read_page lists those"),
        ]:
            refusal = Mcp(agent_with_token().api).call(tool, **arguments).refusal
            assert (refusal["error"], refusal.get("field")) == (error, field), refusal
            assert told in refusal["message"], (tool, arguments, error, field, told)
            pointers = [detail["pointer"] for detail in refusal.get("details", [])]
            assert all(pointer == "" or pointer.startswith(f"/{field}") for pointer in pointers), tool
            assert not any(name in str(refusal["message"]) for name in ("parentId", "quoteId") if name != field), tool

    def test_an_empty_edit_needs_content(self) -> None:
        agent = agent_with_token()
        post = str(MessageFactory(author=agent.account).pk)
        refusal = Mcp(agent.api).call("edit_post", postId=post, content=" ").refusal
        assert (refusal["error"], refusal["message"]) == ("empty_message", "Send a content that is not empty.")

    def test_no_name_that_a_tool_does_not_have_is_left_in_any_refusal(self) -> None:
        for tool in TOOLS:
            arguments = set(tool.schema["properties"])
            for error in errors_by_code().values():
                body = in_words_of_tool({"message": error.message, "field": "parentId"}, tool.argument_of, tool.texts)
                assert not any(
                    name in body["message"] for name in tool.argument_of if name not in arguments | {"id", "q"}
                ), tool
                assert "/v1/smart-tags" not in body["message"], tool

    def test_what_has_no_field_and_no_details_stays(self) -> None:
        assert in_words_of_tool({"error": "x", "max": 1}, {"q": "query"}, {}) == {"error": "x", "max": 1}


class TestArguments:
    def test_are_refused_as_fields_of_the_api_are(self) -> None:
        for tool, arguments, field, allowed in [
            ("read_page", {}, "url", None),
            ("read_page", {"url": 5}, "url", None),
            ("read_page", {"url": URL, "limit": "5"}, "limit", None),
            ("read_page", {"url": URL, "page": 2}, "page", ["url", "replyTo", "cursor", "limit", "maxTokens"]),
            ("reference", {"topic": "rules"}, "topic", ["communities", "limits", "tags"]),
            ("reference", {"topic": None}, "topic", ["communities", "limits", "tags"]),
            ("whoami", {"me": True}, "me", None),
            ("write_post", {"url": URL, "content": []}, "content", None),
            ("write_post", POST | {"a/b~": 1}, "a/b~", "replyTo"),
        ]:
            refusal = Mcp(agent_with_token().api).call(tool, **arguments).refusal
            assert refusal["error"] == "invalid_input", (tool, arguments, field, allowed)
            assert refusal["field"] == field or field == "parentId", (tool, arguments, field, allowed)
            assert [detail["pointer"] for detail in refusal["details"]] in (
                [f"/{field.replace('~', '~0').replace('/', '~1')}"],
                ["/replyTo"],
            ), (tool, arguments, field, allowed)
            found = refusal.get("allowed")
            assert allowed in found if isinstance(allowed, str) else found == allowed, (tool, arguments, field, allowed)
            assert not Message.objects.exists(), (tool, arguments, field, allowed)

    def test_other_names_of_an_argument_are_answered_with_its_own(self) -> None:
        for tool, sent, name, argument in [
            ("write_post", POST | {"parentId": "x"}, "parentId", "replyTo"),
            ("write_post", POST | {"reply_to": "x"}, "reply_to", "replyTo"),
            ("write_post", POST | {"quoteId": "x"}, "quoteId", "quote"),
            ("write_post", {"pageId": "x", "content": "x"}, "pageId", "url"),
            ("write_post", {"url": URL, "text": "x"}, "text", "content"),
            ("write_post", POST | {"idempotency-key": "x"}, "idempotency-key", "idempotencyKey"),
            ("read_post", {"id": "x"}, "id", "postId"),
            ("edit_post", {"messageId": "x", "content": "x"}, "messageId", "postId"),
            ("delete_post", {"post_id": "x"}, "post_id", "postId"),
            ("react", {"id": "x", "emoji": "👍"}, "id", "postId"),
            ("read_page", {"url": URL, "parent-id": "x"}, "parent-id", "replyTo"),
            ("search", {"q": "word"}, "q", "query"),
            ("search", {"query": "word", "max_tokens": 500}, "max_tokens", "maxTokens"),
        ]:
            refusal = Mcp(agent_with_token().api).call(tool, **sent).refusal
            assert refusal["message"] == f"`{name}` is called `{argument}` here.", (tool, sent)
            assert (refusal["error"], refusal["field"], refusal["allowed"]) == ("invalid_input", name, [argument])
            assert [detail["pointer"] for detail in refusal["details"]] == [f"/{name}"], (tool, sent)
        assert not Message.objects.exists()

    def test_every_fault_is_listed(self) -> None:
        refusal = Mcp(agent_with_token().api).call("write_post", content=1, dryRun="yes", other=1).refusal
        assert [detail["pointer"] for detail in refusal["details"]] == ["/url", "/content", "/dryRun", "/other"]
        assert "3 more" in refusal["message"]
        assert not Reaction.objects.exists()
