"""Ages are computed with PostgreSQL's clock: a host with a clock that is ahead deletes nothing too early, and stamps
rows with no time of the future.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.utils import timezone
from django.utils.module_loading import import_string
from psycopg.conninfo import make_conninfo
from rest_framework_simplejwt import tokens
from rest_framework_simplejwt.token_blacklist.models import OutstandingToken

from agents.models import AgentToken
from agents.services import create_token
from embeds.analytics import ingest
from embeds.models import DailySalt, DailyVisitors
from kernel.api.jwt import RefreshToken
from kernel.database.sql import database_now
from kernel.jobs import queue
from messaging.accounts.sessions import end_session, start_session
from messaging.models import Account, Message, Report
from messaging.moderation.reporting import dismiss_reports
from messaging.moderation.services import hide_message
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.commands.expiring_rows import EXPIRING, NOT_BY_AGE, NOT_DUE, OF_NO_AGE, WITHOUT_MODELS
from tests.embeds.making import EVENTS, an_embed, rows_of
from tests.factories import MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.hiding import hide_posts_of
from tests.host_clock import AHEAD, DAY, run_ahead


def manage_ahead(seconds: int, *command: str) -> str:
    url = make_conninfo(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"])
    return run_ahead(seconds, os.environ | {"DATABASE_URL": url}, *command)


@pytest.fixture
def _empty_rings(transactional_db: None) -> Iterator[None]:
    """Truncates the two tables without models, which Django does not truncate. A salt that this process knows from an
    earlier test has no row.
    """
    ingest.cached.clear()
    yield
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE embeds_event, embeds_visitor")


@pytest.fixture
def clock_is_8_days_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patches Django's clock in this process."""
    later = timezone.now() + timedelta(days=8)
    monkeypatch.setattr(timezone, "now", lambda: later)


@pytest.mark.slow
@pytest.mark.processes
def test_the_clock_of_a_command_is_ahead() -> None:
    program = "import time, datetime; print(json.dumps([time.time(), datetime.datetime.now().timestamp()]))"
    output = run_ahead(8 * DAY, os.environ, "shell", "--no-imports", "-c", f"import json; {program}")
    assert all(seconds > timezone.now().timestamp() + 7 * DAY for seconds in json.loads(output))


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_an_exhausted_limit_stays_exhausted_and_a_retry_is_replayed(settings: Any) -> None:
    settings.HOURLY_LIMITS = settings.HOURLY_LIMITS | {"post": 2}
    agent, body = agent_with_token(), {"pageId": PageFactory().pk, "content": "once"}
    first = agent.api.post("/api/messages", body, key="a")
    assert [agent.api.post("/api/messages", body).status for _ in range(2)] == [201, 429]
    for seconds in AHEAD:
        assert set(json.loads(manage_ahead(seconds, "prune", "--json")).values()) == {0}
    assert agent.api.post("/api/messages", body).status == 429
    again = agent.api.post("/api/messages", body, key="a")
    assert (again.headers["Idempotent-Replayed"], again.body) == ("true", first.body)
    assert Message.objects.count() == 2


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_no_row_is_deleted_by_a_clock_that_is_ahead() -> None:
    now = database_now()
    assert {*EXPIRING, *OF_NO_AGE} == set(settings.PRUNERS)
    for make in EXPIRING.values():
        make(now)
    counts = json.loads(manage_ahead(8 * DAY, "prune", "--json"))
    assert set(counts.values()) == {0}, counts
    # Two days later, a row of each kind is deleted.
    later = {name: count for path in EXPIRING for name, count in pruned(path, at=now + timedelta(days=2)).items()}
    assert {name for name, count in later.items() if not count} == WITHOUT_MODELS
    assert counts.keys() - later.keys() == set().union(*OF_NO_AGE.values())


def pruned(path: str, *, at: datetime) -> dict[str, int]:
    counts: dict[str, int] = import_string(path)(now=at, dry_run=True)
    return counts


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_no_housekeeping_does_by_a_clock_that_is_ahead_what_is_not_due() -> None:
    assert {*NOT_DUE, *NOT_BY_AGE} == set(queue.names())
    now = database_now()
    unchanged = {name: make(now) for name, make in NOT_DUE.items()}
    program = (
        f"from django.core.management import call_command; [call_command('run_job', name) for name in {list(NOT_DUE)}]"
    )
    manage_ahead(8 * DAY, "shell", "--no-imports", "-c", program)
    assert [name for name, holds in unchanged.items() if not holds()] == []


@pytest.mark.slow
@pytest.mark.processes
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


DECISIONS: dict[str, Callable[[Message, Account], Any]] = {
    "dismissed": lambda post, boss: dismiss_reports(message_id=post.pk, by=boss),
    "hidden": lambda post, boss: hide_message(message_id=post.pk, by=boss),
    "hidden together": lambda post, boss: hide_posts_of(author=post.author, by=boss),
}


@pytest.mark.django_db
@pytest.mark.parametrize("name", DECISIONS)
def test_a_report_is_closed_at_the_time_of_the_database(name: str, request: pytest.FixtureRequest) -> None:
    post, boss = MessageFactory(), SuperAdminFactory()
    report = Report.objects.create(message=post, reporter=PersonFactory(), reason="spam")
    request.getfixturevalue("clock_is_8_days_ahead")
    DECISIONS[name](post, boss)
    for row in (report, post):
        row.refresh_from_db()
    assert report.closed_at is not None
    assert max(report.closed_at, post.updated_at) <= database_now()


@pytest.mark.django_db
@pytest.mark.usefixtures("clock_is_8_days_ahead")
def test_a_session_expires_by_the_clock_of_the_database() -> None:
    client = Client()
    client.force_login(PersonFactory())
    expiry = Session.objects.get().expire_date
    assert abs(expiry - database_now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)) < timedelta(minutes=1)
    assert client.get("/account/me/").status_code == 200
    Session.objects.update(expire_date=database_now() - timedelta(seconds=1))
    assert client.get("/account/me/").status_code == 302


@pytest.mark.django_db
def test_a_token_that_was_logged_out_stays_logged_out_for_its_lifetime_by_the_clock_of_the_database(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`prune` would delete it before the token expires where it was issued, by a clock that is behind."""
    earlier = timezone.now() - timedelta(days=8)
    monkeypatch.setattr(tokens, "aware_utcnow", lambda: earlier)
    session = start_session(account=PersonFactory())
    monkeypatch.setattr("kernel.api.jwt.read", lambda kind, raw: kind(raw, verify=False))
    end_session(refresh_token=session.refresh)
    lifetime = OutstandingToken.objects.get().expires_at - database_now()
    assert abs(lifetime - RefreshToken.lifetime) < timedelta(minutes=1)


# Modules that read the clock of their host, and for what.
HOST_CLOCK = {
    "account_area/agents/queries.py": "shows days",
    "account_area/me/queries.py": "offers an edit, which the service refuses",
    "account_area/moderation/exports.py": "the name of a file",
    "account_area/moderation/hosts.py": "when a page is loaded again",
    "account_area/sign_in/sessions.py": "in the data of a session: when it is written again",
    "account_area/templatetags/account_area.py": "shows ages",
    "agents/admin/actions.py": "offers an undoing, which the service refuses, and a filter of the admin",
    "agents/admin/requests.py": "shows that an account is new, and offers an undoing, which the service refuses",
    "agents/models.py": "shows the status of a token",
    "kernel/admin/formatting.py": "shows ages",
    "kernel/discovery/views.py": "when a document expires",
    "runtime/drill.py": "when a report was written, which is shown",
    "kernel/writes/rate_limits.py": "shows when a limit ends",
    "embeds/models.py": "shows whether a host is proved; queries ask the database",
    "messaging/inbox/views.py": "shows the time in a pulse",
    "embeds/services.py": "when an embed was changed, which is shown",
    "messaging/privacy/archive.py": "times in an archive",
    "messaging/privacy/erasing.py": "when an erasure has begun, which is shown",
    "messaging/accounts/services.py": "the last sign-in, which is shown",
    "moving/exports/jsonl.py": "the time in an export",
}


NOW = r"timezone\.now\(\)|datetime\.now\(|date\.today\("


def test_a_module_that_reads_the_clock_of_its_host_has_a_reason() -> None:
    packages = [folder for folder in settings.BASE_DIR.iterdir() if (folder / "__init__.py").exists()]
    modules = [file for folder in packages if folder.name != "tests" for file in folder.rglob("*.py")]
    found = {file for file in modules if re.search(NOW, file.read_text())}
    assert {str(file.relative_to(settings.BASE_DIR)) for file in found} == HOST_CLOCK.keys()
