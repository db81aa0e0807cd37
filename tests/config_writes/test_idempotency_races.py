"""Concurrent requests with one key: one writes, the others are 409 or replays."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.db import connection, connections

from kernel.writes.models import RateLimitEvent, StoredResponse
from messaging.models import Message
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Answer
from tests.factories import MessageFactory
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)
CALLS = 20


def test_twenty_concurrent_requests_with_one_key_write_once() -> None:
    agent, target = agent_with_token(), MessageFactory()
    body = {"pageId": target.page_id, "parentId": str(target.pk), "content": "Once"}
    responses = race(CALLS, lambda _index: agent.api.post("/api/messages", body, key="one"))
    written = [response for response in responses if response.status == 201]
    assert [response.headers.get("Idempotent-Replayed") for response in written].count(None) == 1
    assert len({response.body for response in written}) == 1
    assert {(response.status, response.error) for response in responses if response not in written} <= {
        (409, "idempotency_in_progress")
    }
    target.refresh_from_db()
    assert (Message.objects.count(), RateLimitEvent.objects.count(), target.reply_count) == (2, 1, 1)


def test_concurrent_requests_with_a_key_are_409_until_the_first_ends() -> None:
    agent, target = agent_with_token(), MessageFactory()
    body = {"pageId": target.page_id, "parentId": str(target.pk), "content": "Once"}

    def call() -> Answer:
        try:
            return agent.api.post("/api/messages", body, key="one")
        finally:
            connections.close_all()

    with psycopg.connect(**connection.get_connection_params()) as blocker, ThreadPoolExecutor(CALLS) as pool:
        # The first request has the key lock and waits for its parent's row, which this connection has locked.
        blocker.execute("SELECT FROM messaging_message WHERE id = %s FOR UPDATE", [target.pk])
        first = pool.submit(call)
        wait_until_something_waits()
        others = [future.result(timeout=PATIENCE_SECONDS) for future in [pool.submit(call) for _ in range(CALLS - 1)]]
        assert {(response.status, response.error) for response in others} == {(409, "idempotency_in_progress")}
        assert {response.headers["Retry-After"] for response in others} == {"1"}
        assert not StoredResponse.objects.exists()
        blocker.rollback()
        written = first.result(timeout=PATIENCE_SECONDS)
    assert written.status == 201
    replay = call()
    assert (replay.status, replay.body) == (201, written.body)
    assert replay.headers["Idempotent-Replayed"] == "true"
    assert Message.objects.count() == 2


def test_requests_with_different_keys_run_concurrently() -> None:
    agent, target = agent_with_token(), MessageFactory()
    body: dict[str, Any] = {"pageId": target.page_id, "content": "Each"}
    responses = race(10, lambda index: agent.api.post("/api/messages", body, key=f"key {index}"))
    assert [response.status for response in responses] == [201] * 10
    assert len({response.json["id"] for response in responses}) == 10


def wait_until_something_waits() -> None:
    """Wait until a session of this database waits for a lock."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with connection.cursor() as cursor:
        while cursor.execute(waiting) and cursor.fetchone() == (0,):
            assert time.monotonic() < deadline, "nothing waits"
            time.sleep(0.01)
