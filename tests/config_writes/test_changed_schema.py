"""Stale prepared statements of a release that serves while the migrations of the next one run are prepared again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection

from kernel.database.sql import fetch_one
from kernel.writes.models import RateLimitEvent, StoredResponse
from messaging.models import Message, MessageStatus
from messaging.models.page import PAGE_ID_MAX
from messaging.moderation.services import hide_message
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Answer, Api
from tests.factories import MessageFactory, PageFactory, SuperAdminFactory
from tests.faults.next_release import OPEN_UNIT, WIDENED, wider, with_one_more_column

pytestmark = pytest.mark.django_db(transaction=True)

# A statement is prepared when it runs the second time.
OFTEN = 3


READ_COLUMN, TOKEN_COLUMN, WRITE_COLUMN = WIDENED


@contextmanager
def migrated(forwards: str, backwards: str) -> Iterator[None]:
    """Run a statement in another session, as a migration of the next release does."""
    with psycopg.connect(**connection.get_connection_params() | {"autocommit": True}) as other:
        other.execute("SET lock_timeout = '20s'")
        other.execute(forwards)
        try:
            yield
        finally:
            other.execute(backwards)


def one_more_column() -> tuple[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(OPEN_UNIT)
        return with_one_more_column(cursor.fetchone()[0])


@pytest.fixture
def agent() -> TokenHolder:
    return agent_with_token()


def post(agent: TokenHolder, message: Message, *, key: str) -> Answer:
    body = {"pageId": message.page_id, "content": key, "parentId": str(message.pk)}
    return agent.api.post("/api/messages", body, key=key)


def written() -> tuple[int, int, int]:
    return Message.objects.count(), RateLimitEvent.objects.count(), StoredResponse.objects.count()


def test_a_read_survives_a_changed_column_type() -> None:
    message = MessageFactory(source_app="before")
    path = f"/api/messages/{message.pk}"
    for _ in range(OFTEN):
        assert Api().get(path).status == 200
    with migrated(*wider(*READ_COLUMN)):
        response = Api().get(path)
    assert (response.status, response.json["sourceApp"]) == (200, "before")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda: wider(*TOKEN_COLUMN), id="of the token's look-up"),
        pytest.param(lambda: wider(*WRITE_COLUMN), id="inside the transaction"),
        pytest.param(one_more_column, id="of the function that opens it"),
    ],
)
def test_a_write_runs_once_after_a_changed_result_type(
    agent: TokenHolder, change: Callable[[], tuple[str, str]]
) -> None:
    parent = MessageFactory()
    for number in range(OFTEN):
        assert post(agent, parent, key=f"before {number}").status == 201
    before = written()
    with migrated(*change()):
        response = post(agent, parent, key="after")
        assert (response.status, response.json["content"]) == (201, "after")
        assert post(agent, parent, key="after").body == response.body
    assert written() == tuple(count + 1 for count in before)
    parent.refresh_from_db()
    assert parent.reply_count == OFTEN + 1


def test_a_new_column_of_the_function_moves_no_value(agent: TokenHolder) -> None:
    """If columns were read by position, the events would be read from the previous column."""
    page = PageFactory()
    with migrated(*one_more_column()):
        response = agent.api.post("/api/messages", {"pageId": page.pk, "content": "Hi"}, key="one")
        assert (response.status, response.headers["RateLimit"]) == (201, '"post";r=29;t=3600')
        again = agent.api.post("/api/messages", {"pageId": page.pk, "content": "Hi"}, key="one")
        assert (again.status, again.body) == (201, response.body)


def test_dropped_prepared_statements_are_prepared_again(agent: TokenHolder) -> None:
    """SQLSTATE 26000, as behind a pooler or after DISCARD ALL."""
    parent = MessageFactory()
    for number in range(OFTEN):
        assert post(agent, parent, key=f"before {number}").status == 201
        assert Api().get(f"/api/messages/{parent.pk}").status == 200
    forget_prepared_statements()
    assert Api().get(f"/api/messages/{parent.pk}").status == 200
    forget_prepared_statements()
    assert post(agent, parent, key="after").status == 201
    assert Message.objects.count() == OFTEN + 2


def test_a_service_survives_a_changed_result_type() -> None:
    """Outside the API the same statements run in transactions of the services."""
    moderator = SuperAdminFactory()
    parent = MessageFactory()
    replies = [MessageFactory(parent=parent, page=parent.page) for _ in range(OFTEN + 1)]
    for reply in replies[:-1]:
        hide_message(message_id=reply.pk, by=moderator)
    # Returned by the statement that changes the counts of a parent.
    with migrated(*wider("messaging_message", "page_id", "varchar(84)", f"varchar({PAGE_ID_MAX})")):
        hide_message(message_id=replies[-1].pk, by=moderator)
    replies[-1].refresh_from_db()
    parent.refresh_from_db()
    assert (replies[-1].status, parent.reply_count) == (MessageStatus.HIDDEN, 0)


def test_statements_of_the_orm_are_never_prepared() -> None:
    """They cannot be stale: Django's cursors interpolate the values."""
    message = MessageFactory()
    for _ in range(2 * OFTEN):
        assert Message.objects.select_related("author").filter(pk=message.pk).exists()
        assert list(Message.objects.filter(pk=message.pk).iterator())
        Message.objects.filter(pk=message.pk).update(language="en")
    row = fetch_one("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s", ["%messaging_message%"])
    assert row == (0,)


def forget_prepared_statements() -> None:
    """Without psycopg, which would notice it."""
    connection.connection.pgconn.exec_(b"DEALLOCATE ALL")
