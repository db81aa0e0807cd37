"""A write is one transaction: a failure writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from kernel.changes.wakeups import NOTIFY
from kernel.database.checks import check_isolation
from kernel.writes.models import RateLimitEvent, StoredResponse
from kernel.writes.transaction import WriteTransaction
from messaging.models import Message
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Answer
from tests.config_writes.test_idempotency_races import wait_until_something_waits
from tests.factories import MessageFactory, PageFactory
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def agent() -> TokenHolder:
    return agent_with_token()


def reply(agent: TokenHolder, parent: Message, quote: Message) -> Answer:
    body = {"pageId": parent.page_id, "content": "x", "parentId": str(parent.pk), "quoteId": str(quote.pk)}
    try:
        return agent.api.post("/api/messages", body, key="one")
    finally:
        connections.close_all()


def written() -> tuple[int, int, int]:
    return Message.objects.count(), RateLimitEvent.objects.count(), StoredResponse.objects.count()


def test_a_lock_timeout_is_503_and_writes_nothing(agent: TokenHolder) -> None:
    target = MessageFactory()
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SELECT FROM messaging_message WHERE id = %s FOR UPDATE", [target.pk])
        connection.cursor().execute("SET lock_timeout = '50ms'")
        response = reply(agent, target, target)
        assert (response.status, response.error) == (503, "temporarily_unavailable")
        assert response.headers["Retry-After"] == "2"
    assert written() == (1, 0, 0)
    assert reply(agent, target, target).status == 201


@pytest.mark.parametrize(("counter", "refusal"), [("reply", "parent_not_found"), ("quote", "quote_not_found")])
def test_a_parent_that_is_hidden_during_the_lock_wait_is_404(agent: TokenHolder, counter: str, refusal: str) -> None:
    parent, quote = MessageFactory(), MessageFactory()
    hidden = parent if counter == "reply" else quote
    with psycopg.connect(**connection.get_connection_params()) as other, ThreadPoolExecutor(1) as pool:
        lock = "SELECT pg_advisory_xact_lock(hashtext(%s), hashtext(%s))"
        other.execute(lock, [str(agent.agent.pk), counter])
        replying = pool.submit(reply, agent, parent, quote)
        wait_until_something_waits()
        other.execute("UPDATE messaging_message SET status = 'hidden' WHERE id = %s", [hidden.pk])
        other.commit()
        response = replying.result(timeout=PATIENCE_SECONDS)
    assert (response.status, response.error) == (404, refusal)
    assert written() == (2, 0, 0)


def test_a_failure_after_the_write_rolls_it_back(agent: TokenHolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stored response is part of the write: if storing it fails, nothing is written."""
    target = MessageFactory()
    close = WriteTransaction.close

    def fails(transaction: WriteTransaction) -> None:
        close(transaction)
        assert written() == (2, 2, 1)
        raise RuntimeError("the response cannot be stored")

    with monkeypatch.context() as patch:
        patch.setattr(WriteTransaction, "close", fails)
        with pytest.raises(RuntimeError):
            reply(agent, target, target)
    assert written() == (1, 0, 0)
    assert reply(agent, target, target).status == 201


def test_the_database_must_run_read_committed() -> None:
    assert check_isolation(databases=["default"]) == []
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_isolation = 'serializable'")
        try:
            (error,) = check_isolation(databases=["default"])
        finally:
            cursor.execute("RESET default_transaction_isolation")
    assert error.id == "api.E001"
    assert "serializable" in error.msg


# The number of statements of a write: a round trip costs as much as a statement.


@pytest.fixture
def used_agent() -> TokenHolder:
    """An agent token with a recorded use."""
    holder = agent_with_token()
    holder.api.get("/v1/agent/self")
    return holder


@contextmanager
def statements(count: int) -> Iterator[None]:
    """Assert the number of statements, without BEGIN, COMMIT and the wake-up, which a thread sends outside of tests."""
    with CaptureQueriesContext(connection) as captured:
        yield
    captured_sql = [query["sql"] for query in captured if query["sql"] not in ("BEGIN", "COMMIT", NOTIFY)]
    assert len(captured_sql) == count, captured_sql


def test_the_statements_of_writes(used_agent: TokenHolder) -> None:
    page, parent, quoted = PageFactory(), MessageFactory(), MessageFactory()
    body = {"pageId": page.pk, "content": "Hi"}
    # The token; the opening statement; the post with its charge and its stored response.
    for key in ("once", None):
        with statements(3):
            assert used_agent.api.post("/api/messages", body, key=key).status == 201
    assert Message.objects.filter(page=page).count() == 2
    # One more for the parent and one for the quoted post.
    answer = {"pageId": parent.page_id, "content": "Hi", "parentId": str(parent.pk), "quoteId": str(quoted.pk)}
    with statements(5):
        assert used_agent.api.post("/api/messages", answer, key="answer").status == 201
    # A retry: the token with the stored response, and the state of the limits; no transaction.
    with statements(2):
        assert used_agent.api.post("/api/messages", body, key="once").headers["Idempotent-Replayed"] == "true"
    # The token; the opening statement; the state of the post; the reaction; the charge and the stored response.
    with statements(5):
        reaction = {"messageId": str(parent.pk), "emoji": "👍"}
        assert used_agent.api.post("/v1/reactions", reaction, key="reaction").status == 200
