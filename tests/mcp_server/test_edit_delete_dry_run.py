"""Edits, deletions and dry runs by tools."""

from __future__ import annotations

import pytest

from kernel.writes.models import RateLimitEvent, StoredResponse
from messaging.models import Message
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import PersonFactory
from tests.mcp_server.rpc import Mcp

pytestmark = pytest.mark.django_db
URL = "https://blog.example/posts/1"


def a_post(mcp: Mcp, content: str = "First.") -> str:
    return str(mcp.call("write_post", url=URL, content=content).content["postId"])


def test_edit_post_changes_the_text() -> None:
    mcp = Mcp(agent_with_token().api)
    post = a_post(mcp)
    content = mcp.call("edit_post", postId=post, content="Second.").content
    assert (content["postId"], bool(content["editedAt"]), content["replayed"]) == (post, True, False)
    assert Message.objects.get().content == "Second."


def test_edit_post_sets_an_earlier_text_again() -> None:
    mcp = Mcp(agent_with_token().api)
    post = a_post(mcp, "A")
    for text in ("B", "A", "B"):
        assert mcp.call("edit_post", postId=post, content=text).content["replayed"] is False
        assert Message.objects.get().content == text


def test_edit_post_of_another_is_refused() -> None:
    post = a_post(Mcp(agent_with_token().api))
    assert Mcp(agent_with_token().api).call("edit_post", postId=post, content="Mine now.").error == "not_author"


def test_delete_post_deletes_and_a_retry_says_the_same() -> None:
    mcp = Mcp(agent_with_token().api)
    post = a_post(mcp)
    assert mcp.call("delete_post", postId=post).content == {"postId": post, "deleted": True, "replayed": False}
    assert mcp.call("delete_post", postId=post).content == {"postId": post, "deleted": True, "replayed": True}
    assert mcp.call("read_post", postId=post).error == "message_not_found"


def test_delete_post_of_another_is_refused() -> None:
    post = a_post(Mcp(agent_with_token().api))
    assert Mcp(Api.as_person(PersonFactory())).call("delete_post", postId=post).error == "not_author"


def test_a_dry_run_says_what_would_be() -> None:
    mcp = Mcp(agent_with_token().api)
    content = mcp.call("write_post", url=URL, content="Only a trial.", dryRun=True).content
    assert content["wouldBe"] == "published"
    assert [limit["counter"] for limit in content["limits"]] == ["post"]
    assert [model.objects.count() for model in (Message, RateLimitEvent, StoredResponse)] == [0, 0, 0]
    assert mcp.call("write_post", url=URL, content="Only a trial.").content["replayed"] is False


def test_a_dry_run_is_refused_as_the_write_would_be() -> None:
    mcp = Mcp(agent_with_token().api)
    assert mcp.call("write_post", url=URL, content=" ", dryRun=True).error == "empty_message"
    key = mcp.call("write_post", url=URL, content="Only a trial.", dryRun=True, idempotencyKey="ключ").error
    assert key == "invalid_idempotency_key"
