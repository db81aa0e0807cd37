from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.db.models import Model
from django.utils import timezone
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken

from account_area.models import Submission
from agents.models import RefusedCall
from config.api.ids import new_id
from config.writes import deletion
from config.writes.models import RateLimitEvent, StoredResponse
from desk.models import DailyCount, DailyTotal, Trouble
from embeds.models import Sighting
from messaging.management.commands.prune import MARGIN
from messaging.models import MessageVersion, Page, PanelSession
from messaging.services import pages
from messaging.services.sessions import end_session, start_session
from tests.agents.factories import agent_with_token
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


def refused_calls() -> list[RefusedCall]:
    agent = agent_with_token().account.agent
    return [RefusedCall(agent=agent, day=LONG_AGO.date(), operation=str(n), code="x", calls=1) for n in range(COUNT)]


def submissions() -> list[Submission]:
    person = PersonFactory()
    return [Submission(key=new_id(), account=person, created_at=LONG_AGO) for _ in range(COUNT)]


def versions() -> list[MessageVersion]:
    replaced = {"message": MessageFactory(), "content": {}, "was_public": True, "replaced_at": LONG_AGO}
    return [MessageVersion(**replaced) for _ in range(COUNT)]


def panel_sessions() -> list[PanelSession]:
    person = PersonFactory()
    return [PanelSession(account=person, digest=bytes([n]) * 32, last_used_at=LONG_AGO) for n in range(COUNT)]


def sightings() -> list[Sighting]:
    seen: dict[str, Any] = {"embed_id": new_id(), "is_refused": False, "last_seen_at": LONG_AGO}
    return [Sighting(host=f"{n}.example", **seen) for n in range(COUNT)]


def counts_of_the_desk() -> list[DailyCount]:
    return [DailyCount(subject_id=new_id(), kind="k", day=LONG_AGO.date(), count=1) for _ in range(COUNT)]


def totals_of_the_desk() -> list[DailyTotal]:
    return [DailyTotal(kind="k", day=LONG_AGO.date(), name=str(n), count=1) for n in range(COUNT)]


def troubles() -> list[Trouble]:
    return [Trouble(name=str(n), text="t", since=LONG_AGO, seen_at=LONG_AGO) for n in range(COUNT)]


# By kind of rows: makes COUNT old ones.
OLD_ROWS: dict[str, Callable[[], list[Any]]] = {
    "refused calls": refused_calls,
    "submitted forms": submissions,
    "versions of posts": versions,
    "unused panel sessions": panel_sessions,
    "hosts of widgets": sightings,
    "daily counts of the desk": counts_of_the_desk,
    "daily totals of the desk": totals_of_the_desk,
    "troubles of hosts that are gone": troubles,
}


def store_old_rows(kind: str) -> type[Model]:
    rows = OLD_ROWS[kind]()
    model = type(rows[0])
    model._default_manager.bulk_create(rows)
    return model


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", OLD_ROWS)
def test_each_transaction_deletes_one_batch(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers of the change log wait for the oldest transaction."""
    monkeypatch.setattr(deletion, "BATCH", 2)
    table, deleted, transactions = store_old_rows(kind)._meta.db_table, [], set()

    def record(run: Callable[..., Any], statement: str, values: Any, many: bool, context: Any) -> Any:
        result = run(statement, values, many, context)
        if statement.lstrip().startswith((f'DELETE FROM "{table}"', f"DELETE FROM {table} ")):
            deleted.append(context["cursor"].rowcount)
            transactions.add(last_transaction())
        return result

    with connection.execute_wrapper(record):
        assert run_json("prune", "--json")[kind] == COUNT
    assert (deleted, len(transactions)) == ([2, 2, 1], 3)


def last_transaction() -> str:
    """The number of the last transaction that has written, or of this one if it has."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(pg_current_xact_id_if_assigned(), pg_snapshot_xmax(pg_current_snapshot()))")
        return str(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", OLD_ROWS)
def test_prune_leaves_locked_rows_to_the_next_run(kind: str) -> None:
    """Two hosts may prune at once."""
    table = store_old_rows(kind)._meta.db_table
    with psycopg.connect(**connection.get_connection_params()) as other, connection.cursor() as cursor:
        other.execute(f"SELECT FROM {table} LIMIT 2 FOR UPDATE")
        cursor.execute("SET lock_timeout = '50ms'")
        assert run_json("prune", "--json")[kind] == COUNT - 2
        cursor.execute("RESET lock_timeout")
    assert run_json("prune", "--json")[kind] == 2
