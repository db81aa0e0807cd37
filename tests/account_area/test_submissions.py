"""Each form is carried out once, also if PostgreSQL aborts its transaction for another one."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.test import Client

from account_area.models import Submission
from account_area.submissions import OnceForm
from kernel.api.exceptions import InvalidInput
from messaging.models import Account
from reactions.models import Reaction
from tests.agents.racing import race
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory
from tests.faults.failing import failing


def sent(key: object) -> OnceForm:
    form = OnceForm({"submission": key})
    assert form.is_valid()
    return form


@pytest.mark.django_db
def test_the_second_submission_gets_the_result_of_the_first(person: Account) -> None:
    key = uuid4()
    results = [sent(key).submit_once(person, lambda path=path: path) for path in ("/account/a/", "/account/b/")]
    assert results == ["/account/a/", "/account/a/"]


@pytest.mark.django_db
def test_a_refused_form_can_be_sent_again(person: Account) -> None:
    def refuse() -> str:
        raise InvalidInput("Not so.")

    key, form = uuid4(), None
    form = sent(key)
    assert form.submit_once(person, refuse) is None
    assert form.non_field_errors() == ["Not so."]
    assert sent(key).submit_once(person, lambda: "/account/a/") == "/account/a/"


@pytest.mark.django_db
def test_the_key_of_another_person_is_refused(person: Account) -> None:
    key = uuid4()
    sent(key).submit_once(person, lambda: "/account/a/")
    assert sent(key).submit_once(PersonFactory(), lambda: "/account/b/") is None


@pytest.mark.django_db(transaction=True)
def test_of_equal_submissions_at_once_one_is_carried_out() -> None:
    person, key, made = PersonFactory(), uuid4(), []

    def press(_number: int) -> str | None:
        return sent(key).submit_once(person, lambda: made.append(1) or "/account/a/")

    assert race(4, press) == ["/account/a/"] * 4
    assert (len(made), Submission.objects.count()) == (1, 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("action", "status", "versions", "reactions"),
    [("edit", "published", 1, 1), ("delete", "deleted", 1, 1), ("remove", "published", 0, 0)],
)
def test_what_a_page_of_own_posts_writes_is_written_once(
    client: Client, person: Account, action: str, status: str, versions: int, reactions: int
) -> None:
    """The first try fails as in a deadlock."""
    post = MessageFactory(author=person, content="before")
    body = {"messageId": str(post.pk), "emoji": "🎉"}
    assert Api.as_person(person).post("/v1/reactions", body).status == 200
    row = f"reactions/{Reaction.objects.get().pk}" if action == "remove" else f"posts/{post.pk}"
    with failing("40P01", times=1, change="UPDATE"):
        assert client.post(f"/account/me/{row}/{action}/", {"content": "after"}).status_code == 302
    post.refresh_from_db()
    assert (post.status, post.versions.count()) == (status, versions)
    assert (action != "edit" or post.content == "after", post.reaction_total) == (True, reactions)
