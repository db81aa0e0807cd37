"""Concurrent writes lock rows in one order, so none of them is aborted by a deadlock."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle, islice

import pytest

from kernel.database.sql import sqlstate
from kernel.writes import transaction
from messaging.models import Account, Message
from messaging.moderation.services import hide_message, restore_message
from messaging.posts.exceptions import NotInThisState
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db(transaction=True)

TURNS = 12
Writer = Callable[[int], None]


@pytest.fixture
def retried_sqlstates(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The SQLSTATE of each transaction that is run again."""
    states: list[str | None] = []
    can_retry = transaction._can_retry

    def record(failure: Exception, *times: float) -> bool:
        states.append(sqlstate(failure))
        return can_retry(failure, *times)  # type: ignore[arg-type]

    monkeypatch.setattr(transaction, "_can_retry", record)
    return states


def test_writes_on_the_same_posts_do_not_deadlock(retried_sqlstates: list[str | None]) -> None:
    """Replies that quote, with two posts in both orders; moderation of such replies; reactions to the two posts."""
    low, high = sorted((MessageFactory() for _ in range(2)), key=lambda message: message.pk)
    Message.objects.filter(pk=high.pk).update(page=low.page)
    high.refresh_from_db()
    decided = [MessageFactory(parent=low, quote=high), MessageFactory(parent=high, quote=low)]
    writers = [
        answers(parent=low, quote=high),
        answers(parent=high, quote=low),
        answers(parent=low, quote=high),
        answers(parent=high, quote=low),
        *(decides_on(message, by=SuperAdminFactory()) for message in decided),
        reacts_to(low),
        reacts_to(high),
    ]
    race(len(writers), lambda number: [writers[number](turn) for turn in range(TURNS)])
    assert retried_sqlstates == []
    for message in (low, high):
        message.refresh_from_db()
        rows = Message.objects.filter(status="published")
        assert message.reply_count == rows.filter(parent=message).count() > 2 * TURNS - 1
        assert message.quote_count == rows.filter(quote=message).count()


def answers(*, parent: Message, quote: Message) -> Writer:
    agent = agent_with_token()
    body = {"pageId": parent.page_id, "content": "Both", "parentId": str(parent.pk), "quoteId": str(quote.pk)}

    def write(turn: int) -> None:
        answer = agent.api.post("/api/messages", body, key=str(turn))
        assert answer.status == 201, answer.body

    return write


def decides_on(message: Message, *, by: Account) -> Writer:
    decisions = list(islice(cycle([hide_message, restore_message]), TURNS))

    def decide(turn: int) -> None:
        try:
            decisions[turn](message_id=message.pk, by=by)
        except NotInThisState:
            pytest.fail("the decisions of one moderator overlap")

    return decide


def reacts_to(message: Message) -> Writer:
    api = Api.as_person(PersonFactory())
    body = {"messageId": str(message.pk), "emoji": "👍"}

    def react(turn: int) -> None:
        assert api.post("/v1/reactions", body, key=str(turn)).status == 200

    return react
