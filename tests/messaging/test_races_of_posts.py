"""Edits, deletions, replies and decisions on the same posts at once: one order of them, and exact counts."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from django.db.models import Count, F, Q

from messaging.models import Account, Message, MessageVersion
from messaging.moderation.services import hide_message, restore_message
from messaging.posts.exceptions import NotInThisState
from tests.agents.racing import race
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.messaging.test_derived_rows import check
from tests.openapi import document

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _unthrottled(monkeypatch: pytest.MonkeyPatch) -> None:
    # Generated once, which threads cannot do at the same time.
    document()
    monkeypatch.setattr("kernel.api.throttling.hit", lambda *_arguments: None)


def check_counts() -> None:
    counted = Message.objects.annotate(
        replied=Count("replies", filter=Q(replies__status="published") | Q(replies__is_tombstone=True), distinct=True),
        quoted=Count("quotes", filter=Q(quotes__status="published"), distinct=True),
    )
    assert not counted.exclude(reply_count=F("replied"), quote_count=F("quoted")).exists()
    check()


def logged(message: Message) -> list[str]:
    changes = Api().get("/v1/changes", pageId=message.page_id, limit=100).json["changes"]
    return [change["type"] for change in changes if change["messageId"] == str(message.pk)]


def test_of_concurrent_deletions_one_succeeds() -> None:
    mine = MessageFactory(parent=MessageFactory())
    path, author = f"/api/messages/{mine.pk}", Api.as_person(mine.author)
    assert sorted(race(6, lambda _number: author.delete(path).status)) == [200] + [404] * 5
    assert logged(mine) == ["message.deleted"]
    assert MessageVersion.objects.count() == 1
    check_counts()


def test_concurrent_edits_are_all_stored_in_one_order() -> None:
    mine = MessageFactory(content="first")
    path, author = f"/api/messages/{mine.pk}", Api.as_person(mine.author)
    assert race(6, lambda number: author.put(path, {"content": f"edit {number}"}).status) == [200] * 6
    contents = [version.content["content"] for version in MessageVersion.objects.order_by("pk")]
    assert contents[0] == "first"
    mine.refresh_from_db()
    assert sorted([*contents[1:], mine.content]) == [f"edit {number}" for number in range(6)]
    assert logged(mine) == ["message.edited"] * 6


def test_an_edit_and_a_deletion_leave_a_post_without_content() -> None:
    for _ in range(4):
        mine = MessageFactory(content="first")
        path, author = f"/api/messages/{mine.pk}", Api.as_person(mine.author)

        def act(number: int, author: Any = author, path: str = path) -> int:
            return (author.delete(path) if number else author.put(path, {"content": "second"})).status

        edited, deleted = race(2, act)
        assert (deleted, edited in {200, 404}) == (200, True)
        mine.refresh_from_db()
        assert (mine.status, mine.content) == ("deleted", "")
        assert logged(mine)[-1] == "message.deleted"
    check_counts()


def test_a_reply_to_a_post_that_is_deleted_makes_a_tombstone_or_is_refused() -> None:
    for _ in range(4):
        mine = MessageFactory()
        body = {"pageId": mine.page_id, "content": "x", "parentId": str(mine.pk)}
        author, other = Api.as_person(mine.author), Api.as_person(PersonFactory())

        def act(number: int, author: Any = author, other: Any = other, mine: Any = mine, body: Any = body) -> int:
            return (other.post("/api/messages", body) if number else author.delete(f"/api/messages/{mine.pk}")).status

        deleted, replied = race(2, act)
        assert (deleted, replied in {201, 404}) == (200, True)
        assert Api().get(f"/api/messages/{mine.pk}").status == (200 if replied == 201 else 404)
    check_counts()


def test_every_mixture_of_writes_leaves_exact_counts_threads_and_tombstones() -> None:
    boss, person = SuperAdminFactory(), PersonFactory()
    api = Api.as_person(person)
    held, free = CommunityFactory(pre_moderation="everyone"), CommunityFactory()
    root = MessageFactory(author=person, community=free)
    chain = [root]
    for number in range(6):
        community = held if number == 4 else free
        chain.append(MessageFactory(author=person, parent=chain[-1], quote=chain[0], community=community))

    def act(number: int) -> None:
        for turn in range(4):
            message = chain[(number * 3 + turn * 2) % len(chain)]
            path = f"/api/messages/{message.pk}"
            match (number + turn) % 4:
                case 0:
                    assert api.put(path, {"content": f"{number} {turn}"}).status in {200, 404, 409}
                case 1:
                    body = {"pageId": root.page_id, "content": "x", "parentId": str(message.pk)}
                    assert api.post("/api/messages", body).status in {201, 404}
                case 2:
                    _decide(message, boss)
                case _ if message is not root:
                    assert api.delete(path).status in {200, 404}

    race(4, act)
    check_counts()


def _decide(message: Message, boss: Account) -> None:
    for decision in (hide_message, restore_message):
        with suppress(NotInThisState):
            decision(message_id=message.pk, by=boss)
