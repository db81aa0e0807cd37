"""What a page of one's own posts writes is written once, also if PostgreSQL aborts its transaction for another one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client

from messaging.models import Account, Message
from reactions.models import Reaction
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory

pytestmark = pytest.mark.django_db(transaction=True)
# A rollback does not reset a sequence, so the trigger fails the first try alone.
FAILING = """
CREATE SEQUENCE tries;
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('tries') = 1 THEN RAISE EXCEPTION 'injected' USING ERRCODE = '40P01'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER failing BEFORE UPDATE ON messaging_message FOR EACH ROW EXECUTE FUNCTION fail();
"""
RECOVERED = "DROP TRIGGER failing ON messaging_message; DROP FUNCTION fail; DROP SEQUENCE tries"


@pytest.fixture
def person() -> Account:
    account: Account = PersonFactory()
    return account


@pytest.fixture
def post(person: Account) -> Message:
    """With a reaction of its author."""
    message: Message = MessageFactory(author=person, content="before")
    body = {"messageId": str(message.pk), "emoji": "🎉"}
    assert Api.as_person(person).post("/v1/reactions", body).status == 200
    return message


@pytest.fixture
def first_try_fails(post: Message) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute(FAILING)
    yield
    with connection.cursor() as cursor:
        cursor.execute(RECOVERED)


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
