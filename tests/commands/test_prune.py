from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.db.models import Model
from django.utils import timezone
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken

from account_area.models import Submission
from agents.models import RefusedCall
from desk.models import DailyCount, DailyTotal, Trouble
from embeds.models import Sighting
from kernel.database.sql import fetch_one
from kernel.writes import deletion
from kernel.writes.models import RateLimitEvent, StoredResponse
from messaging.accounts.sessions import end_session, start_session
from messaging.management.commands.prune import MARGIN
from messaging.models import MessageVersion, Page, PanelSession
from messaging.pages import services as pages
from tests.agents.factories import agent_with_token
from tests.commands import expiring_rows
from tests.commands.running import run, run_json
from tests.factories import MessageFactory, PageFactory, PersonFactory

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
COUNT, LONG_AGO = 5, timezone.now() - 1_000 * DAY


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
    assert "unused pages: 1 to delete" in run("prune", "--dry-run").splitlines()
    assert run_json("prune", "--json").items() >= KINDS.items()
    assert row_counts() == {
        "StoredResponse": 1,
        "RateLimitEvent": 1,
        "OutstandingToken": 1,
        "BlacklistedToken": 1,
        "Page": before["Page"] - 1,
    }
    assert set(run_json("prune", "--json").values()) == {0}, "safe to run twice"


def test_prune_deletes_more_than_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PRUNE_BATCH", 3)
    for _ in range(8):
        PageFactory(created_at=timezone.now() - 40 * DAY)
    assert "unused pages: 8 deleted" in run("prune").splitlines()
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


# Each kind of rows has what makes one that is as old as its first argument, and the model.
OLD_ROWS: dict[str, tuple[Callable[[datetime], None], type[Model]]] = {
    "refused calls": (expiring_rows.refused_calls, RefusedCall),
    "submitted forms": (expiring_rows.submissions, Submission),
    "versions of posts": (expiring_rows.versions, MessageVersion),
    "unused panel sessions": (expiring_rows.panel_sessions, PanelSession),
    "hosts of widgets": (expiring_rows.sightings, Sighting),
    "daily counts of the desk": (expiring_rows.desk, DailyCount),
    "daily totals of the desk": (expiring_rows.desk, DailyTotal),
    "troubles of hosts that are gone": (expiring_rows.desk, Trouble),
}


def store_old_rows() -> dict[str, str]:
    """COUNT of each kind; returns the kinds by their tables."""
    for make in {make for make, _model in OLD_ROWS.values()}:
        for _ in range(COUNT):
            make(LONG_AGO)
    return {model._meta.db_table: kind for kind, (_make, model) in OLD_ROWS.items()}


@pytest.mark.django_db(transaction=True)
def test_each_transaction_deletes_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers of the change log wait for the oldest transaction."""
    monkeypatch.setattr(deletion, "BATCH", 2)
    tables = store_old_rows()
    deleted: dict[str, list[int]] = {kind: [] for kind in OLD_ROWS}
    transactions: dict[str, set[str]] = {kind: set() for kind in OLD_ROWS}

    def record(run: Callable[..., Any], statement: str, values: Any, many: bool, context: Any) -> Any:
        result = run(statement, values, many, context)
        found = re.match(r'\s*DELETE FROM "?(\w+)"? ', statement)
        if found and (kind := tables.get(found[1])):
            deleted[kind].append(context["cursor"].rowcount)
            transactions[kind].add(last_transaction())
        return result

    with connection.execute_wrapper(record):
        assert run_json("prune", "--json").items() >= dict.fromkeys(OLD_ROWS, COUNT).items()
    assert deleted == {kind: [2, 2, 1] for kind in OLD_ROWS}
    assert {kind: len(found) for kind, found in transactions.items()} == dict.fromkeys(OLD_ROWS, 3)


def last_transaction() -> str:
    """The number of the last transaction that has written, or of this one if it has."""
    row = fetch_one("SELECT coalesce(pg_current_xact_id_if_assigned(), pg_snapshot_xmax(pg_current_snapshot()))::text")
    assert row
    return str(row[0])


@pytest.mark.django_db(transaction=True)
def test_prune_leaves_locked_rows_to_the_next_run() -> None:
    """Two hosts may prune at once."""
    tables = store_old_rows()
    with psycopg.connect(**connection.get_connection_params()) as other, connection.cursor() as cursor:
        for table in tables:
            other.execute(f"SELECT FROM {table} LIMIT 2 FOR UPDATE")
        cursor.execute("SET lock_timeout = '50ms'")
        assert run_json("prune", "--json").items() >= dict.fromkeys(OLD_ROWS, COUNT - 2).items()
        cursor.execute("RESET lock_timeout")
    assert run_json("prune", "--json").items() >= dict.fromkeys(OLD_ROWS, 2).items()
