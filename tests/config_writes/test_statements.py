"""The number of statements of a write: a round trip costs as much as a statement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config.changes.wakeups import NOTIFY
from messaging.models import Message
from tests.agents.factories import TokenHolder, agent_with_token
from tests.factories import MessageFactory, PageFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def agent() -> TokenHolder:
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


@pytest.mark.parametrize("key", ["once", None])
def test_a_post_takes_three_statements(agent: TokenHolder, key: str | None) -> None:
    """The token; the opening statement; the post with its charge and its stored response."""
    page = PageFactory()
    with statements(3):
        assert agent.api.post("/api/messages", {"pageId": page.pk, "content": "Hi"}, key=key).status == 201
    assert Message.objects.count() == 1


def test_a_reply_and_a_quote_take_one_more_statement_each(agent: TokenHolder) -> None:
    parent, quoted = MessageFactory(), MessageFactory()
    body = {"pageId": parent.page_id, "content": "Hi", "parentId": str(parent.pk), "quoteId": str(quoted.pk)}
    with statements(5):
        assert agent.api.post("/api/messages", body, key="once").status == 201


def test_a_retry_takes_two_statements(agent: TokenHolder) -> None:
    """The token with the stored response, and the state of the limits; no transaction."""
    page = PageFactory()
    body = {"pageId": page.pk, "content": "Hi"}
    assert agent.api.post("/api/messages", body, key="once").status == 201
    with statements(2):
        assert agent.api.post("/api/messages", body, key="once").headers["Idempotent-Replayed"] == "true"


def test_a_reaction_takes_five_statements(agent: TokenHolder) -> None:
    """The token; the opening statement; the state of the post; the reaction; the charge and the stored response."""
    body = {"messageId": str(MessageFactory().pk), "emoji": "👍"}
    with statements(5):
        assert agent.api.post("/v1/reactions", body, key="once").status == 200
