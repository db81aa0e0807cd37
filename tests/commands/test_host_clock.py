"""Ages are computed with PostgreSQL's clock: a host with a clock that is ahead deletes nothing too early."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from psycopg.conninfo import make_conninfo

from agents.models import AgentToken
from agents.services import create_token
from config.database.sql import database_now
from embeds.analytics import salts
from embeds.models import DailySalt, DailyVisitors
from messaging.models import Message
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.embeds.making import EVENTS, an_embed, rows_of
from tests.factories import PageFactory
from tests.host_clock import AHEAD, DAY, run_ahead


def manage_ahead(seconds: int, *command: str) -> str:
    url = make_conninfo(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"])
    return run_ahead(seconds, os.environ | {"DATABASE_URL": url}, *command)


@pytest.fixture
def _empty_rings(transactional_db: None) -> Iterator[None]:
    """Truncates the two tables without models, which Django does not truncate. A salt that this process knows from an
    earlier test has no row.
    """
    salts.cached.clear()
    yield
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE embeds_event, embeds_visitor")


@pytest.fixture
def clock_is_8_days_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patches Django's clock in this process."""
    later = timezone.now() + timedelta(days=8)
    monkeypatch.setattr(timezone, "now", lambda: later)


def test_the_clock_of_a_command_is_ahead() -> None:
    program = "import time, datetime; print(json.dumps([time.time(), datetime.datetime.now().timestamp()]))"
    output = run_ahead(8 * DAY, os.environ, "shell", "--no-imports", "-c", f"import json; {program}")
    assert all(seconds > timezone.now().timestamp() + 7 * DAY for seconds in json.loads(output))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seconds", AHEAD)
def test_an_exhausted_limit_stays_exhausted_and_a_retry_is_replayed(seconds: int, settings: Any) -> None:
    settings.HOURLY_LIMITS = settings.HOURLY_LIMITS | {"post": 2}
    agent, body = agent_with_token(), {"pageId": PageFactory().pk, "content": "once"}
    first = agent.api.post("/api/messages", body, key="a")
    assert [agent.api.post("/api/messages", body).status for _ in range(2)] == [201, 429]
    counts = json.loads(manage_ahead(seconds, "prune", "--json"))
    assert set(counts.values()) == {0}
    assert agent.api.post("/api/messages", body).status == 429
    again = agent.api.post("/api/messages", body, key="a")
    assert (again.headers["Idempotent-Replayed"], again.body) == ("true", first.body)
    assert Message.objects.count() == 2


@pytest.mark.usefixtures("_empty_rings")
def test_rollup_closes_no_day_that_is_current_in_the_database() -> None:
    event = {"serviceId": str(an_embed().pk), "event": "trigger_view", "pageUrl": "https://a.example"}
    assert Api().post(EVENTS, event).status == 201
    manage_ahead(8 * DAY, "rollup_analytics")
    assert (rows_of("embeds_visitor"), DailyVisitors.objects.count(), DailySalt.objects.count()) == (1, 0, 1)


@pytest.mark.django_db
@pytest.mark.usefixtures("clock_is_8_days_ahead")
def test_events_are_counted_on_the_day_of_the_database() -> None:
    embed = an_embed()
    event = {"serviceId": str(embed.pk), "event": "trigger_view", "pageUrl": "https://a.example"}
    assert Api().post(EVENTS, event).status == 201
    with connection.cursor() as cursor:
        cursor.execute("SELECT day FROM embeds_event")
        assert cursor.fetchone()[0] <= database_now().date()


@pytest.mark.django_db
@pytest.mark.usefixtures("clock_is_8_days_ahead")
def test_created_at_of_a_post_is_the_time_of_the_database() -> None:
    body = {"pageId": PageFactory().pk, "content": "Hi"}
    created = agent_with_token().api.post("/api/messages", body).json["createdAt"]
    post = Message.objects.get()
    assert post.created_at <= database_now()
    assert created == post.created_at.isoformat().replace("+00:00", "Z")


@pytest.mark.django_db
def test_an_unexpired_token_counts_towards_the_limit_of_five(request: pytest.FixtureRequest) -> None:
    agent = agent_with_token()
    for _ in range(4):
        create_token(request_id=agent.request.pk, by=agent.request.requester, expires_in_days=7)
    request.getfixturevalue("clock_is_8_days_ahead")
    refused = agent.operator.post(f"/v1/agent-tokens/requests/{agent.request.pk}/token")
    assert (refused.status, refused.error) == (409, "too_many_active_tokens")


@pytest.mark.django_db
@pytest.mark.usefixtures("clock_is_8_days_ahead")
def test_token_expiry_is_computed_with_the_clock_of_the_database() -> None:
    agent = agent_with_token()
    create_token(request_id=agent.request.pk, by=agent.request.requester, expires_in_days=1)
    assert AgentToken.objects.latest("id").expires_at < database_now() + timedelta(days=1, minutes=1)
