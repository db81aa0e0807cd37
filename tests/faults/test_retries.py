"""Transactions that PostgreSQL aborts for others are retried up to three times; other database failures are a 503."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, connections, transaction

from kernel.writes import transaction as retries
from kernel.writes.models import RateLimitEvent, StoredResponse
from kernel.writes.transaction import retried
from messaging.models import Message, Page
from tests.agents.factories import TokenHolder, agent_with_token
from tests.agents.racing import race
from tests.api import Answer
from tests.factories import MessageFactory, PageFactory
from tests.faults.failing import failing, tries
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def agent() -> TokenHolder:
    return agent_with_token()


@pytest.fixture
def page() -> Page:
    return PageFactory()


def post(agent: TokenHolder, page_id: str, **fields: str) -> Answer:
    return agent.api.post("/api/messages", {"pageId": page_id, "content": "Hello", **fields}, key="one")


@pytest.fixture
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "time", SimpleNamespace(monotonic=time.monotonic, sleep=lambda _seconds: None))


@pytest.mark.usefixtures("_no_pauses")
@pytest.mark.parametrize(
    "sqlstate",
    [
        "40001",  # serialisation failure
        "40P01",  # deadlock
        "0A000",  # the type of a prepared statement's result changed
        "26000",  # no such prepared statement
        "XX000",  # a function was replaced
    ],
)
def test_write_is_retried_and_written_once(agent: TokenHolder, page: Page, sqlstate: str) -> None:
    with failing(sqlstate, times=1):
        answer = post(agent, page.pk)
        assert (answer.status, tries()) == (201, 2)
    assert (Message.objects.count(), RateLimitEvent.objects.count(), StoredResponse.objects.count()) == (1, 1, 1)
    assert post(agent, page.pk).body == answer.body


@pytest.mark.usefixtures("_no_pauses")
@pytest.mark.parametrize("times", [2, 3])
def test_write_that_conflicts_again_is_written_once(agent: TokenHolder, page: Page, times: int) -> None:
    with failing("40P01", times=times):
        assert (post(agent, page.pk).status, tries()) == (201, times + 1)
    assert (Message.objects.count(), RateLimitEvent.objects.count(), StoredResponse.objects.count()) == (1, 1, 1)


def test_pauses_grow_and_vary(monkeypatch: pytest.MonkeyPatch) -> None:
    @retried
    def conflicting() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$")

    pauses: list[float] = []
    monkeypatch.setattr(retries.time, "sleep", pauses.append)
    for _ in range(3):
        with pytest.raises(OperationalError):
            conflicting()
    series = [pauses[:3], pauses[3:6], pauses[6:]]
    assert all(first < second < third for first, second, third in series)
    assert len({each[0] for each in series}) == 3


@pytest.mark.usefixtures("_no_pauses")
@pytest.mark.parametrize(
    ("sqlstate", "expected_tries"),
    [
        ("40001", 4),
        ("40P01", 4),
        ("53100", 1),  # disk full
        ("53200", 1),  # out of memory
        ("53300", 1),  # too many connections
        ("55P03", 1),  # lock not available
        ("57014", 1),  # statement timeout
        ("57P01", 1),  # shut down by an administrator
        ("58030", 1),  # input or output error
        ("25006", 1),  # read-only, such as a standby
        ("25P03", 1),  # idle in transaction for too long
    ],
)
def test_database_failure_is_503_and_writes_nothing(
    agent: TokenHolder, page: Page, sqlstate: str, expected_tries: int
) -> None:
    with failing(sqlstate, times=9):
        answer = post(agent, page.pk)
        assert (answer.status, answer.error, tries()) == (503, "temporarily_unavailable", expected_tries)
    assert int(answer.headers["Retry-After"]) > 0
    assert (Message.objects.count(), RateLimitEvent.objects.count(), StoredResponse.objects.count()) == (0, 0, 0)
    assert post(agent, page.pk).status == 201


def test_no_retry_begins_after_the_statement_timeout(agent: TokenHolder, page: Page, settings: Any) -> None:
    """The second pause alone is longer than the timeout."""
    settings.STATEMENT_TIMEOUT = 90
    with failing("40001", times=9):
        assert post(agent, page.pk).status == 503
        assert tries() <= 2


# Blocks the second UPDATE of posts before it locks its row, until the gate (an advisory lock) is free.
GATE = """
CREATE SEQUENCE updates;
CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$
BEGIN
    IF nextval('updates') = 2 THEN PERFORM pg_advisory_xact_lock(22); END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER gate BEFORE UPDATE ON messaging_message FOR EACH STATEMENT EXECUTE FUNCTION wait_at_gate();
"""
NO_GATE = "DROP TRIGGER gate ON messaging_message; DROP FUNCTION wait_at_gate; DROP SEQUENCE updates"


@contextmanager
def gate() -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """The session that holds the gate until it commits."""
    with psycopg.connect(**connection.get_connection_params()) as gatekeeper:
        gatekeeper.execute(GATE)
        gatekeeper.commit()
        gatekeeper.execute("SELECT pg_advisory_xact_lock(22)")
        try:
            yield gatekeeper
        finally:
            gatekeeper.execute(NO_GATE)


def test_deadlocked_write_is_retried_after_the_other_commits(agent: TokenHolder) -> None:
    """The service locks rows by id, the other transaction in the reverse order and with a long deadlock_timeout.

    The other transaction locks `second`. The service locks `first` and stops at the gate. The other waits for `first`.
    The gate opens, and the service waits for `second`: that closes the circle, so the service detects the deadlock and
    is aborted. The other transaction locks `first` and commits; the retry of the service writes.
    """
    first, second = sorted((MessageFactory() for _ in range(2)), key=lambda message: message.pk)
    Message.objects.filter(pk=second.pk).update(page=first.page)
    lock = "SELECT 1 FROM messaging_message WHERE id = %s FOR UPDATE"
    with gate() as gatekeeper, ThreadPoolExecutor(2) as pool:
        with psycopg.connect(**connection.get_connection_params()) as other:
            # It waits longer than the service, which is therefore aborted.
            other.execute("SET LOCAL deadlock_timeout = '30s'; SET LOCAL lock_timeout = 0")
            other.execute(lock, [second.pk])
            writing = pool.submit(post_alone, agent, first, quote=second)
            wait_until_blocked_by(gatekeeper)
            locking = pool.submit(other.execute, lock, [first.pk])
            wait_until_blocks(other)
            gatekeeper.commit()
            locking.result(timeout=PATIENCE_SECONDS)
            other.commit()
        answer = writing.result(timeout=PATIENCE_SECONDS)
    assert (answer.status, answer.headers["RateLimit"]) == (201, '"quote";r=29;t=3600, "reply";r=29;t=3600')
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.reply_count, second.quote_count, RateLimitEvent.objects.count()) == (1, 1, 2)
    assert (Message.objects.count(), StoredResponse.objects.count()) == (3, 1)


def post_alone(agent: TokenHolder, parent: Message, *, quote: Message) -> Answer:
    """For another thread: closes its connection."""
    try:
        return post(agent, parent.page_id, parentId=str(parent.pk), quoteId=str(quote.pk))
    finally:
        connections.close_all()


def test_page_deleted_during_the_write_is_unknown_page(agent: TokenHolder, page: Page) -> None:
    """Deleted between the prefetch of the page and the end of the write, where the foreign key is checked."""
    answers: list[Answer] = []
    writing = threading.Thread(target=lambda: answers.extend(race(1, lambda _: post(agent, page.pk))))
    with psycopg.connect(**connection.get_connection_params()) as session:
        session.execute("LOCK TABLE api_ledgerentry IN EXCLUSIVE MODE")
        writing.start()
        wait_until_something_waits()
        session.execute("DELETE FROM messaging_page WHERE id = %s", [page.pk])
        session.commit()
    writing.join(PATIENCE_SECONDS)
    assert [(answer.status, answer.error) for answer in answers] == [(400, "unknown_page")]
    assert (Message.objects.count(), RateLimitEvent.objects.count()) == (0, 0)


def wait_until_blocked_by(session: psycopg.Connection[tuple[object, ...]]) -> None:
    """Return when another session waits for a lock of `session`."""
    _wait_until("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND %s = ANY (pg_blocking_pids(pid)))", session)


def wait_until_blocks(waiter: psycopg.Connection[tuple[object, ...]]) -> None:
    """Return when `waiter` waits for a lock of another session."""
    _wait_until("SELECT cardinality(pg_blocking_pids(%s)) > 0", waiter)


def _wait_until(query: str, session: psycopg.Connection[tuple[object, ...]]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    with connection.cursor() as cursor:
        while cursor.execute(query, [session.info.backend_pid]) and cursor.fetchone() == (False,):
            assert time.monotonic() < deadline, "nothing waits"
            time.sleep(0.01)


def wait_until_something_waits() -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with connection.cursor() as cursor:
        while cursor.execute(waiting) and cursor.fetchone() == (0,):
            assert time.monotonic() < deadline, "nothing waits"
            time.sleep(0.01)
