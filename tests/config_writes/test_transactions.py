"""A write is one transaction: a failure writes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db import connection, connections

from config.database.checks import check_isolation
from config.writes.models import RateLimitEvent, StoredResponse
from config.writes.transaction import WriteTransaction
from messaging.models import Message
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Answer
from tests.config_writes.test_idempotency_races import wait_until_something_waits
from tests.factories import MessageFactory
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
