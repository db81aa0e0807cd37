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


def test_the_statements_of_writes(agent: TokenHolder) -> None:
    page, parent, quoted = PageFactory(), MessageFactory(), MessageFactory()
    body = {"pageId": page.pk, "content": "Hi"}
    # The token; the opening statement; the post with its charge and its stored response.
    for key in ("once", None):
        with statements(3):
            assert agent.api.post("/api/messages", body, key=key).status == 201
    assert Message.objects.filter(page=page).count() == 2
    # One more for the parent and one for the quoted post.
    answer = {"pageId": parent.page_id, "content": "Hi", "parentId": str(parent.pk), "quoteId": str(quoted.pk)}
    with statements(5):
        assert agent.api.post("/api/messages", answer, key="answer").status == 201
    # A retry: the token with the stored response, and the state of the limits; no transaction.
    with statements(2):
        assert agent.api.post("/api/messages", body, key="once").headers["Idempotent-Replayed"] == "true"
    # The token; the opening statement; the state of the post; the reaction; the charge and the stored response.
    with statements(5):
        reaction = {"messageId": str(parent.pk), "emoji": "👍"}
        assert agent.api.post("/v1/reactions", reaction, key="reaction").status == 200
