"""listParticipants: GET /v1/presence/participants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from messaging.models import MessageStatus, Page
from messaging.moderation.services import hide_message
from messaging.pages import presence
from messaging.pages.moving import move_page
from tests.api import Api
from tests.cache.conftest import Call, call, django_paths, store
from tests.factories import MessageFactory, PageFactory, PersonFactory, SuperAdminFactory

__all__ = ["call", "django_paths", "store"]
pytestmark = pytest.mark.django_db
PATH = "/v1/presence/participants"
START = datetime(2026, 11, 1, tzinfo=UTC)


def handles_on(page_id: str) -> list[str]:
    answer = Api().get(PATH, pageId=page_id)
    assert answer.status == 200, answer.json
    return [account["handle"] for account in answer.json["participants"]]


def test_authors_of_posts_and_replies_are_listed_once_those_who_wrote_last_first() -> None:
    page = PageFactory()
    ada, ben, cleo = (PersonFactory(handle=handle) for handle in ("ada", "ben", "cleo"))
    post = MessageFactory(page=page, author=ada, created_at=START)
    MessageFactory(page=page, author=ben, created_at=START + timedelta(minutes=1))
    MessageFactory(page=page, author=cleo, parent=post, created_at=START + timedelta(minutes=2))
    MessageFactory(page=page, author=ada, parent=post, created_at=START + timedelta(minutes=3))
    MessageFactory(author=PersonFactory(handle="elsewhere"))
    assert handles_on(page.pk) == ["ada", "cleo", "ben"]
    expected = {"id": str(ada.pk), "name": ada.name, "handle": "ada", "kind": "human"}
    assert Api().get(PATH, pageId=page.pk).json["participants"][0] == expected


def test_authors_of_posts_that_are_not_public_are_not_listed() -> None:
    page = PageFactory()
    for status in (MessageStatus.PENDING, MessageStatus.HIDDEN, MessageStatus.DELETED):
        MessageFactory(page=page, status=status)
    post = MessageFactory(page=page)
    MessageFactory(page=page, parent=post)
    hide_message(message_id=post.pk, by=SuperAdminFactory())
    assert handles_on(page.pk) == []


def test_at_most_a_hundred_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "PARTICIPANTS_MAX", 2)
    page = PageFactory()
    for _ in range(3):
        MessageFactory(page=page)
    assert len(handles_on(page.pk)) == 2


def test_a_page_that_has_moved_lists_the_participants_of_the_new_one() -> None:
    old = Page.objects.create(id=f"p1_{'a' * 32}", normalized_url="https://example.com/a?PHPSESSID=1")
    post = MessageFactory(page=old, author=PersonFactory(handle="ada"))
    move_page(old)
    post.refresh_from_db()
    assert post.page_id != old.pk
    assert handles_on(old.pk) == handles_on(post.page_id) == ["ada"]


def test_an_invalid_page_is_400_and_named() -> None:
    for query in ({}, {"pageId": ""}, {"pageId": "https://example.org"}, {"pageId": "p1_\x00"}):
        answer = Api().get(PATH, **query)
        assert (answer.status, answer.json["field"]) == (400, "pageId"), query


@pytest.mark.django_db(transaction=True)
def test_the_cached_response_has_the_author_of_the_next_post_at_once(call: Call) -> None:
    page, person = PageFactory(), PersonFactory(handle="ada")
    query = f"pageId={page.pk}"
    assert call(PATH, query).body == call(PATH, query).body == b'{"participants":[]}'
    assert Api.as_person(person).post("/api/messages", {"pageId": page.pk, "content": "Hi"}).status == 201
    assert b'"ada"' in call(PATH, query).body
    assert call(PATH, query).queries == 0
