"""The events of inboxes about reactions."""

from __future__ import annotations

from typing import Any

import pytest

from messaging.models import Message
from messaging.moderation.services import hide_message
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.changes.inbox import events, types
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


def react(caller: Api, message: Message, emoji: str = "👍", **options: Any) -> Any:
    answer = caller.post("/v1/reactions", {"messageId": str(message.pk), "emoji": emoji, **options})
    assert answer.status == 200, answer.json
    return answer.json


def test_added_and_replaced_reactions_are_events_of_the_author_of_the_post() -> None:
    author, agent = PersonFactory(), agent_with_token()
    message = MessageFactory(author=author)
    react(agent.api, message, "👍")
    react(agent.api, message, "🎉")
    react(agent.api, message, "🎉")
    found = events(Api.as_person(author))
    assert [(event["type"], event["data"]) for event in found] == [
        ("reaction", {"emoji": "👍"}),
        ("reaction", {"emoji": "🎉"}),
    ]
    assert {event["actor"]["handle"] for event in found} == {agent.account.handle}
    assert {(event["messageId"], event["aboutId"], event["pageId"]) for event in found} == {
        (str(message.pk), None, message.page_id)
    }
    assert all(event["message"]["reactionCounts"] == {"🎉": 1} for event in found)


def test_a_removed_reaction_makes_no_event() -> None:
    author, person = PersonFactory(), Api.as_person(PersonFactory())
    message = MessageFactory(author=author)
    react(person, message)
    react(person, message)
    added = react(person, message, toggle=False)
    assert person.delete(f"/v1/reactions/{added['reactionId']}").status == 200
    assert types(Api.as_person(author)) == ["reaction", "reaction"]


def test_ones_own_reaction_makes_no_event() -> None:
    author = PersonFactory()
    react(Api.as_person(author), MessageFactory(author=author))
    assert types(Api.as_person(author)) == []


def test_the_reaction_of_a_hidden_post_is_listed_without_the_post() -> None:
    author = PersonFactory()
    message = MessageFactory(author=author)
    react(agent_with_token().api, message)
    hide_message(message_id=message.pk, by=SuperAdminFactory())
    assert [event["message"] for event in events(Api.as_person(author))] == [None, None]
