"""The same call at the same time, from threads with connections of their own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.db.models import F

from kernel.writes.models import StoredResponse
from messaging.models import Message
from tests.agents.factories import agent_with_token
from tests.embeds.making import a_widget_on
from tests.mcp_server.rpc import Mcp

pytestmark = pytest.mark.django_db(transaction=True)
URL = "https://blog.example/posts/1"
THREADS = 6


def at_once(mcp: Mcp) -> list[str]:
    """The outcome of each of several calls that begin together."""
    barrier = Barrier(THREADS)

    def call(_number: int) -> str:
        barrier.wait(timeout=60)
        try:
            result = mcp.call("write_post", url=URL, content="At once.")
            return result.error if result.raw["isError"] else str(result.content["postId"])
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(call, range(THREADS)))


def test_the_same_call_at_once_writes_one_post() -> None:
    outcomes = set(at_once(Mcp(agent_with_token().api)))
    assert outcomes - {"idempotency_in_progress"} == {str(Message.objects.get().pk)}


def test_the_same_call_at_once_on_a_page_with_a_widget_writes_one_post_in_its_community() -> None:
    embed, bystander = a_widget_on("blog.example"), a_widget_on("bystander.example")
    outcomes = set(at_once(Mcp(agent_with_token().api)))
    message = Message.objects.get()
    assert outcomes - {"idempotency_in_progress"} == {str(message.pk)}
    assert message.community_id == embed.community_id != bystander.community_id


def test_the_same_call_at_once_after_the_key_has_ended_writes_one_more() -> None:
    mcp = Mcp(agent_with_token().api)
    mcp.call("write_post", url=URL, content="At once.")
    StoredResponse.objects.update(created_at=F("created_at") - timedelta(minutes=11))
    at_once(mcp)
    assert Message.objects.count() == 2


def test_the_same_call_at_once_after_a_deletion_writes_one_more() -> None:
    mcp = Mcp(agent_with_token().api)
    first = mcp.call("write_post", url=URL, content="At once.").content["postId"]
    mcp.call("delete_post", postId=first)
    outcomes = set(at_once(mcp)) - {"idempotency_in_progress"}
    assert len(outcomes) == 1
    assert first not in outcomes
