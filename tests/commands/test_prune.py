from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.utils import timezone
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken

from config.writes.models import RateLimitEvent, StoredResponse
from messaging.management.commands.prune import MARGIN
from messaging.models import Page
from messaging.services import pages
from messaging.services.sessions import end_session, start_session
from tests.agents.factories import agent_with_token
from tests.commands.running import run, run_json
from tests.factories import MessageFactory, PageFactory, PersonFactory

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def old_and_young() -> None:
    """Two rows of each kind that expires: one older than retention and margin, one within the margin."""
    now, moment = timezone.now(), timedelta(minutes=1)
    past = MARGIN + moment
    agent, page = agent_with_token(), PageFactory()
    for age in (7 * DAY + past, 7 * DAY):
        agent.api.post("/api/messages", {"pageId": page.pk, "content": "x"}, key=str(age))
        StoredResponse.objects.filter(created_at__gt=now - moment).update(created_at=now - age)
    first, second = RateLimitEvent.objects.order_by("pk")
    for entry, age in ((first, timedelta(hours=1) + past), (second, timedelta(hours=1) + moment)):
        RateLimitEvent.objects.filter(pk=entry.pk).update(at=now - age)
    for age in (30 * DAY + past, 30 * DAY):
        PageFactory(created_at=now - age)
    MessageFactory(page=PageFactory(created_at=now - 31 * DAY))
    person = PersonFactory()
    end_session(refresh_token=start_session(account=person).refresh)
    OutstandingToken.objects.update(expires_at=now - past)
    end_session(refresh_token=start_session(account=person).refresh)


KINDS = {"stored responses": 1, "rate limit events": 1, "ended sign-in tokens": 1, "unused pages": 1}


def row_counts() -> dict[str, int]:
    models: Any = (StoredResponse, RateLimitEvent, OutstandingToken, BlacklistedToken, Page)
    return {model.__name__: model.objects.count() for model in models}


@pytest.mark.usefixtures("old_and_young")
def test_prune_deletes_expired_rows_only() -> None:
    before = row_counts()
    assert run_json("prune", "--dry-run", "--json").items() >= KINDS.items()
    assert row_counts() == before
    assert run_json("prune", "--json").items() >= KINDS.items()
    assert row_counts() == {
        "StoredResponse": 1,
        "RateLimitEvent": 1,
        "OutstandingToken": 1,
        "BlacklistedToken": 1,
        "Page": before["Page"] - 1,
    }
    assert set(run_json("prune", "--json").values()) == {0}, "safe to run twice"


@pytest.mark.usefixtures("old_and_young")
def test_prune_prints_the_number_of_deleted_rows() -> None:
    assert "unused pages: 1 to delete" in run("prune", "--dry-run").splitlines()
    assert "unused pages: 1 deleted" in run("prune").splitlines()


def test_prune_deletes_more_than_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PRUNE_BATCH", 3)
    for _ in range(8):
        PageFactory(created_at=timezone.now() - 40 * DAY)
    assert run_json("prune", "--json")["unused pages"] == 8
    assert not Page.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("old_and_young")
def test_prune_skips_rows_that_another_session_has_locked() -> None:
    """Two runs that wait for each other's rows could deadlock."""
    locked = PageFactory(created_at=timezone.now() - 31 * DAY)
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SELECT FROM messaging_page WHERE id = %s FOR UPDATE", [locked.pk])
        connection.cursor().execute("SET lock_timeout = '50ms'")
        assert run_json("prune", "--json").items() >= KINDS.items()
        assert run_json("prune", "--json", "--dry-run")["unused pages"] == 1
    assert run_json("prune", "--json")["unused pages"] == 1
