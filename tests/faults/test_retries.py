"""What PostgreSQL breaks off for the sake of others is tried once more; what it cannot do now is a 503."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection

from config.api.models import LedgerEntry, StoredResponse
from messaging.models import Message, Page
from tests.agents.factories import TokenHolder, agent_with_token
from tests.agents.racing import race
from tests.api import Answer
from tests.factories import MessageFactory, PageFactory

pytestmark = pytest.mark.django_db(transaction=True)

# A sequence counts on where a transaction is rolled back: so a failure can be the first's alone.
FAILING = """
CREATE SEQUENCE tries;
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('tries') <= {times} THEN RAISE EXCEPTION 'as told' USING ERRCODE = '{sqlstate}'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER failing BEFORE INSERT ON messaging_message FOR EACH ROW EXECUTE FUNCTION fail();
"""
RECOVERED = "DROP TRIGGER failing ON messaging_message; DROP FUNCTION fail; DROP SEQUENCE tries"


@pytest.fixture
def agent() -> TokenHolder:
    return agent_with_token()


@pytest.fixture
def page() -> Page:
    return PageFactory()


@contextmanager
def failing(sqlstate: str, *, times: int) -> Iterator[None]:
    """So many inserts of a post fail with this error of PostgreSQL's."""
    with connection.cursor() as cursor:
        cursor.execute(FAILING.format(sqlstate=sqlstate, times=times))
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(RECOVERED)


def tries() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM tries")
        return int(cursor.fetchone()[0])


def post(agent: TokenHolder, page_id: str, **fields: str) -> Answer:
    return agent.api.post("/api/messages", {"pageId": page_id, "content": "Hello", **fields}, key="one")


@pytest.mark.parametrize("sqlstate", ["40001", "40P01"])
def test_broken_off_once_it_is_written_once(agent: TokenHolder, page: Page, sqlstate: str) -> None:
    with failing(sqlstate, times=1):
        answer = post(agent, page.pk)
        assert (answer.status, tries()) == (201, 2)
    assert (Message.objects.count(), LedgerEntry.objects.count(), StoredResponse.objects.count()) == (1, 1, 1)
    assert post(agent, page.pk).body == answer.body


@pytest.mark.parametrize(
    ("sqlstate", "expected_tries"),
    [
        ("40001", 2),
        ("40P01", 2),
        ("53100", 1),  # disk full
        ("53200", 1),  # out of memory
        ("53300", 1),  # too many connections
        ("55P03", 1),  # lock not available
        ("57014", 1),  # statement timeout
        ("57P01", 1),  # shut down by an administrator
        ("58030", 1),  # input or output error
        ("25006", 1),  # read-only: a standby that took over, say
        ("25P03", 1),  # idle in transaction for too long
    ],
)
def test_what_cannot_be_done_now_is_503(agent: TokenHolder, page: Page, sqlstate: str, expected_tries: int) -> None:
    with failing(sqlstate, times=9):
        answer = post(agent, page.pk)
        assert (answer.status, answer.error, tries()) == (503, "temporarily_unavailable", expected_tries)
    assert int(answer.headers["Retry-After"]) > 0
    assert (Message.objects.count(), LedgerEntry.objects.count(), StoredResponse.objects.count()) == (0, 0, 0)
    assert post(agent, page.pk).status == 201


def test_two_writes_that_deadlock_are_both_written(agent: TokenHolder) -> None:
    """The service takes rows in one order; this holder takes them in the other, and does not give way."""
    first, second = sorted((MessageFactory() for _ in range(2)), key=lambda message: message.pk)
    second.page_id = first.page_id
    second.save()
    lock = "SELECT 1 FROM messaging_message WHERE id = %s FOR UPDATE"
    answers: list[Answer] = []
    writing = threading.Thread(
        target=lambda: answers.extend(
            race(1, lambda _: post(agent, first.page_id, parentId=str(first.pk), quoteId=str(second.pk)))
        )
    )
    with psycopg.connect(**connection.get_connection_params()) as holder:
        holder.execute("SET LOCAL deadlock_timeout = '20s'")
        holder.execute(lock, [second.pk])
        writing.start()
        wait_until_something_waits()
        holder.execute(lock, [first.pk])
        holder.commit()
    writing.join()
    assert [answer.status for answer in answers] == [201]
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.reply_count, second.quote_count, LedgerEntry.objects.count()) == (1, 1, 2)


def test_a_page_that_is_cleared_away_meanwhile_is_unknown(agent: TokenHolder, page: Page) -> None:
    """Between the look for the page and the end of the write, where the foreign key is checked."""
    answers: list[Answer] = []
    writing = threading.Thread(target=lambda: answers.extend(race(1, lambda _: post(agent, page.pk))))
    with psycopg.connect(**connection.get_connection_params()) as holder:
        holder.execute("LOCK TABLE api_ledgerentry IN EXCLUSIVE MODE")
        writing.start()
        wait_until_something_waits()
        holder.execute("DELETE FROM messaging_page WHERE id = %s", [page.pk])
        holder.commit()
    writing.join()
    assert [(answer.status, answer.error) for answer in answers] == [(400, "unknown_page")]
    assert (Message.objects.count(), LedgerEntry.objects.count()) == (0, 0)


def wait_until_something_waits() -> None:
    deadline = time.monotonic() + 5
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with connection.cursor() as cursor:
        while cursor.execute(waiting) and cursor.fetchone() == (0,):
            assert time.monotonic() < deadline, "nothing waits"
            time.sleep(0.01)
