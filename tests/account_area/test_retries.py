"""What a page of one's own posts writes is written once, also if PostgreSQL aborts its transaction for another one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client

from messaging.models import Account, Message
from reactions.models import Reaction
from tests.api import Api
from tests.factories import MessageFactory
from tests.faults.failing import failing

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def post(person: Account) -> Message:
    """With a reaction of its author."""
    message: Message = MessageFactory(author=person, content="before")
    body = {"messageId": str(message.pk), "emoji": "🎉"}
    assert Api.as_person(person).post("/v1/reactions", body).status == 200
    return message


@pytest.fixture
def first_try_fails(post: Message) -> Iterator[None]:
    """As of a deadlock."""
    with failing("40P01", times=1, change="UPDATE"):
        yield


@pytest.mark.usefixtures("first_try_fails")
def test_a_post_is_edited(client: Client, post: Message) -> None:
    assert client.post(f"/account/me/posts/{post.pk}/edit/", {"content": "after"}).status_code == 302
    post.refresh_from_db()
    assert (post.content, post.versions.count()) == ("after", 1)


@pytest.mark.usefixtures("first_try_fails")
def test_a_post_is_deleted(client: Client, post: Message) -> None:
    assert client.post(f"/account/me/posts/{post.pk}/delete/").status_code == 302
    post.refresh_from_db()
    assert (post.status, post.versions.count()) == ("deleted", 1)


@pytest.mark.usefixtures("first_try_fails")
def test_a_reaction_is_removed(client: Client, post: Message) -> None:
    remove = f"/account/me/reactions/{Reaction.objects.get().pk}/remove/"
    assert client.post(remove).status_code == 302
    post.refresh_from_db()
    assert (Reaction.objects.count(), post.reaction_total) == (0, 0)
