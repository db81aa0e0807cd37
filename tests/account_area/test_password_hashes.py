"""A password link works once, and no transaction waits for the hash of a password."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth import hashers
from django.core import mail
from django.db import connection
from django.test import Client

from account_area.sign_in import password_views
from messaging.models import Account
from tests.api import Api
from tests.commands.running import run_json
from tests.factories import PersonFactory
from tests.waiting import eventually

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD, OTHER = "a long enough passphrase", "another long passphrase"
AT_ONCE = 6


class NotedHasher(hashers.MD5PasswordHasher):
    """Notes for each hash whether a transaction is open in this thread."""

    algorithm = "noted"
    in_transaction: list[bool] = []

    def encode(self, password: str, salt: str) -> str:
        self.in_transaction.append(connection.in_atomic_block)
        return f"{self.algorithm}$" + super().encode(password, salt).partition("$")[2]


@pytest.fixture
def noted(settings: Any) -> list[bool]:
    settings.PASSWORD_HASHERS = [f"{__name__}.NotedHasher"]
    NotedHasher.in_transaction = []
    return NotedHasher.in_transaction


@pytest.fixture
def person(noted: list[bool]) -> Account:
    account = PersonFactory(handle="ada", password=PASSWORD)
    EmailAddress.objects.create(user=account, email="ada@example.com", verified=True, primary=True)
    noted.clear()
    return account


def signed_in() -> Client:
    client = Client()
    client.post("/account/sign-in/", {"login": "ada", "password": PASSWORD})
    return client


def reset_link() -> str:
    Client().post("/account/password/reset/", {"address": "ada@example.com"})
    assert eventually(lambda: bool(mail.outbox))
    found = re.search(r"http://[^/\s]+(/account/password/reset/\S+)", str(mail.outbox[-1].body))
    assert found
    return found[1]


WAYS: dict[str, Callable[[], object]] = {
    "sign in": signed_in,
    "sign in by the API": lambda: Api().post("/api/auth/login", {"handle": "ada", "password": PASSWORD}),
    "sign in with a wrong password": lambda: Api().post("/api/auth/login", {"handle": "ada", "password": OTHER}),
    "sign in as nobody": lambda: Api().post("/api/auth/login", {"handle": "nobody", "password": OTHER}),
    "register by the API": lambda: Api().post(
        "/api/auth/register", {"handle": "grace", "name": "Grace", "password": OTHER}
    ),
    "sign up": lambda: Client().post(
        "/account/sign-up/", {"handle": "grace", "name": "Grace", "password": OTHER, "password_again": OTHER}
    ),
    "change": lambda: signed_in().post("/account/me/password/", {"current": PASSWORD, "password": OTHER}),
    "reset": lambda: Client().post(reset_link(), {"password": OTHER}),
    "create by the command": lambda: run_json("create_person", "grace", "--password", OTHER),
    "change by the command": lambda: run_json("create_person", "ada", "--password", OTHER),
    "the same by the command": lambda: run_json("create_person", "ada", "--password", PASSWORD),
    "erase": lambda: signed_in().post("/account/me/erase/", {"posts": "anonymous", "password": PASSWORD}),
    "confirm": lambda: signed_in().post("/account/confirm/", {"password": PASSWORD}),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_transaction_is_open_while_a_password_is_hashed(way: str, person: Account, noted: list[bool]) -> None:
    """A hash takes a third of a second, and a transaction has a connection of the pooler for as long."""
    before = person.password
    WAYS[way]()
    assert noted
    assert not any(noted)
    person.refresh_from_db()
    assert (person.password != before) == (way in {"change", "reset", "change by the command"})


def test_a_password_that_was_changed_meanwhile_does_not_change_it_again(
    person: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thief would undo the reset of its owner, which commits while the new one is hashed."""
    client = signed_in()
    check = password_views.check_password

    def checked_before_the_reset(**given: str) -> Account:
        checked = check(**given)
        owner = Account.objects.get(pk=person.pk)
        owner.set_password("the password of the owner")
        owner.save()
        return checked

    monkeypatch.setattr(password_views, "check_password", checked_before_the_reset)
    client.post("/account/me/password/", {"current": PASSWORD, "password": OTHER})
    person.refresh_from_db()
    assert person.check_password("the password of the owner")


def test_of_presses_at_once_one_uses_the_link(person: Account) -> None:
    bystander = PersonFactory(handle="grace", password=PASSWORD)
    link, passwords = reset_link(), [f"{OTHER} {number}" for number in range(AT_ONCE)]

    def press(password: str) -> int:
        try:
            return Client().post(link, {"password": password}).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(AT_ONCE) as threads:
        statuses = list(threads.map(press, passwords))
    # The page of a link that has ended is a 200.
    assert sorted(statuses) == [200] * (AT_ONCE - 1) + [302]
    person.refresh_from_db()
    assert [person.check_password(password) for password in passwords] == [status == 302 for status in statuses]
    assert Client().get(link).context["again"] == "/account/password/reset/"
    assert Account.objects.get(pk=bystander.pk).password == bystander.password
