"""A pending post that was hidden is new to the public when it is restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from messaging.models import Account, Message
from messaging.moderation.services import approve_message, hide_message, restore_message
from tests.api import Api
from tests.changes.inbox import types
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory
from tests.hiding import hide_posts_of, restore_posts_of

pytestmark = pytest.mark.django_db(transaction=True)


def one_by_one(message: Message, by: Account) -> None:
    hide_message(message_id=message.pk, by=by)


def together(message: Message, by: Account) -> None:
    hide_posts_of(author=message.author, by=by)


def changes(message: Message) -> list[Any]:
    listed = Api().get("/v1/changes", pageId=message.page_id).json["changes"]
    return [change["type"] for change in listed if change["messageId"] == str(message.pk)]


class Pending:
    """A pending reply that quotes and mentions others. `events` are those of all three."""

    def __init__(self) -> None:
        parent, quote, mentioned = MessageFactory(), MessageFactory(), PersonFactory()
        self.message = MessageFactory(
            parent=parent, quote=quote, content=f"@{mentioned.handle}", status="pending", author=PersonFactory()
        )
        self.others = [parent.author, quote.author, mentioned]

    def events(self) -> list[list[str]]:
        return [types(Api.as_person(other)) for other in self.others]


@pytest.mark.parametrize("hide", [one_by_one, together])
def test_a_pending_post_that_was_hidden_is_new_when_it_is_restored(hide: Callable[[Message, Account], None]) -> None:
    pending, boss = Pending(), SuperAdminFactory()
    hide(pending.message, boss)
    assert (changes(pending.message), pending.events()) == ([], [[], [], []])
    restore_message(message_id=pending.message.pk, by=boss)
    assert changes(pending.message) == ["message.created"]
    assert pending.events() == [["reply"], ["quote"], ["mention"]]
    # From then on it has been public.
    hide(pending.message, boss)
    restore_message(message_id=pending.message.pk, by=boss)
    assert changes(pending.message) == ["message.created", "message.hidden", "message.restored"]
    assert pending.events() == [["reply"], ["quote"], ["mention"]]


def test_a_pending_post_that_is_restored_with_all_others_is_created_when_it_is_approved() -> None:
    pending, boss = Pending(), SuperAdminFactory()
    together(pending.message, boss)
    restore_posts_of(author=pending.message.author, by=boss)
    assert changes(pending.message) == []
    approve_message(message_id=pending.message.pk, by=boss)
    assert changes(pending.message) == ["message.created"]
    assert pending.events() == [["reply"], ["quote"], ["mention"]]


def test_a_pending_post_that_was_hidden_by_itself_is_not_restored_with_others() -> None:
    pending, boss = Pending(), SuperAdminFactory()
    one_by_one(pending.message, boss)
    together(pending.message, boss)
    assert restore_posts_of(author=pending.message.author, by=boss) == 0
    assert Message.objects.get(pk=pending.message.pk).status == "hidden"
