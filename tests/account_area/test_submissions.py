"""Each form is carried out once."""

from __future__ import annotations

import threading
from uuid import uuid4

import pytest
from django.db import connection

from account_area.models import Submission
from account_area.submissions import OnceForm
from config.api.exceptions import InvalidInput
from messaging.models import Account
from tests.factories import PersonFactory


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
    person, key, made, results = PersonFactory(), uuid4(), [], []
    barrier = threading.Barrier(4)

    def press() -> None:
        barrier.wait()
        results.append(sent(key).submit_once(person, lambda: made.append(1) or "/account/a/"))
        connection.close()

    threads = [threading.Thread(target=press) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(made), results) == (1, ["/account/a/"] * 4)
    assert Submission.objects.count() == 1
