"""What happens in a request and with the database moves the metric of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from django.db import connection

from config.database.sql import fetch_all
from tests.agents.factories import TokenHolder, agent_with_token
from tests.factories import PageFactory
from tests.operations.values import value
from tests.sessions import in_background
from tests.waiting import PATIENCE_SECONDS, eventually

POSTS = "/api/messages"


@pytest.mark.django_db
class TestWrites:
    def post(self, agent: TokenHolder, page_id: str, content: str = "Once", key: str = "a-key-of-this-test") -> int:
        return agent.api.post(POSTS, {"pageId": page_id, "content": content}, key=key).status

    def test_a_replay_is_counted_by_whether_the_body_was_the_same(self) -> None:
        agent, page_id = agent_with_token(), str(PageFactory().pk)
        same, other = (value("idempotent_replays_total", same_body=label) for label in ("yes", "no"))
        assert [self.post(agent, page_id) for _ in range(3)] == [201] * 3
        assert self.post(agent, page_id, "Twice") == 201
        assert value("idempotent_replays_total", same_body="yes") == same + 2
        assert value("idempotent_replays_total", same_body="no") == other + 1

    def test_an_hourly_limit_is_counted_by_its_name(self, settings: Any) -> None:
        settings.HOURLY_LIMITS = settings.HOURLY_LIMITS | {"post": 1}
        agent, page_id = agent_with_token(), str(PageFactory().pk)
        before, refused = value("limits_hit_total", limit="post"), value("refusals_total", code="agent_rate_limited")
        assert [self.post(agent, page_id, key=f"key-{number}-of-this-test") for number in range(3)] == [201, 429, 429]
        assert value("limits_hit_total", limit="post") == before + 2
        assert value("refusals_total", code="agent_rate_limited") == refused + 2


@pytest.mark.django_db
class TestStatements:
    def test_both_ways_to_run_a_statement_are_counted_with_their_time(self, settings: Any) -> None:
        settings.METRICS = True
        count, seconds = value("statement_seconds_count"), value("statement_seconds_sum")
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.01)")
        fetch_all("SELECT pg_sleep(0.01)")
        assert value("statement_seconds_count") == count + 2
        assert value("statement_seconds_sum") >= seconds + 0.02

    def test_a_slow_statement_is_counted(self, settings: Any) -> None:
        before = value("slow_statements_total")
        settings.SLOW_STATEMENT_MS = 0
        fetch_all("SELECT pg_sleep(0.01)")
        assert value("slow_statements_total") == before
        settings.SLOW_STATEMENT_MS = 1
        fetch_all("SELECT pg_sleep(0.01)")
        assert value("slow_statements_total") == before + 1


@pytest.mark.django_db(transaction=True)
def test_a_connection_is_counted_while_it_is_open_and_once_for_ever() -> None:
    fetch_all("SELECT 1")
    opened, now_open = value("database_connections_opened_total"), value("database_connections")
    release = Event()

    def use_a_connection() -> None:
        fetch_all("SELECT 1")
        assert release.wait(PATIENCE_SECONDS)

    with ThreadPoolExecutor(1) as pool:
        future = in_background(pool, use_a_connection)
        assert eventually(lambda: value("database_connections_opened_total") == opened + 1)
        assert value("database_connections") == now_open + 1
        release.set()
        future.result(PATIENCE_SECONDS)
    assert value("database_connections") == now_open
    assert value("database_connections_opened_total") == opened + 1
