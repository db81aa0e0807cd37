"""The log of sign-ins: what it stores, who sees it, and when it ends."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone

from messaging.accounts import sign_ins
from messaging.models import Account, SignIn
from tests.account_area.second_factors import add_app, code_of, recovery_codes_of
from tests.admin.pages import page, read, rows_of
from tests.api import Api
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough passphrase"
PAGE, SECOND = "/account/sign-in/", "/account/sign-in/code/"


@pytest.fixture
def person() -> Account:
    account: Account = PersonFactory(password=PASSWORD)
    return account


def logged() -> list[tuple[Any, ...]]:
    columns = ("account__handle", "door", "first", "second", "refused")
    return list(SignIn.objects.order_by("id").values_list(*columns))


def send(client: Client, person: Account | str, password: str = PASSWORD, **more: Any) -> None:
    login = person if isinstance(person, str) else person.handle
    client.post(PAGE, {"login": login, "password": password}, **more)


def test_sign_ins_on_the_pages_are_logged_with_their_factors(person: Account) -> None:
    handle, client = person.handle, Client()
    send(client, person, "wrong")
    send(client, person)
    secret = add_app(person)
    for code in ("000000", code_of(secret)):
        client = Client()
        send(client, person)
        client.post(SECOND, {"code": code})
    client = Client()
    send(client, person)
    client.post(SECOND, {"code": recovery_codes_of(person)[0]})
    assert logged() == [
        (handle, "pages", "password", "", True),
        (handle, "pages", "password", "", False),
        (handle, "pages", "password", "code", True),
        (handle, "pages", "password", "app", False),
        (handle, "pages", "password", "recovery_code", False),
    ]


def test_sign_ins_with_the_api_are_logged_and_refused_ones_outlive_their_transaction(person: Account) -> None:
    handle = person.handle

    def log_in(**sent: str) -> int:
        return Api().post("/api/auth/login", {"handle": handle, "password": PASSWORD} | sent).status

    assert (log_in(), log_in(code="123456"), log_in(password="a wrong passphrase")) == (200, 200, 401)
    secret = add_app(person)
    # Without a code nothing is refused yet.
    assert (log_in(), log_in(code="000000"), log_in(code=code_of(secret))) == (401, 401, 200)
    new = {"handle": "newcomer", "name": "New", "password": PASSWORD}
    assert Api().post("/api/auth/register", new).status == 201
    assert logged() == [
        (handle, "api", "password", "", False),
        (handle, "api", "password", "", False),
        (handle, "api", "password", "", True),
        (handle, "api", "password", "code", True),
        (handle, "api", "password", "code", False),
        ("newcomer", "api", "password", "", False),
    ]


@pytest.mark.parametrize("door", ["pages", "api"])
def test_a_right_password_without_its_code_is_logged_until_the_code_follows(person: Account, door: str) -> None:
    def sign_in(address: str, code: str = "") -> None:
        client = Client(REMOTE_ADDR=address)
        if door == "pages":
            send(client, person)
            if code:
                client.post(SECOND, {"code": code})
        else:
            body = {"handle": person.handle, "password": PASSWORD} | ({"code": code} if code else {})
            client.post("/api/auth/login", body, content_type="application/json")

    def rows() -> list[tuple[Any, ...]]:
        return list(SignIn.objects.order_by("id").values_list("network", "refused", "unfinished"))

    here, there = "198.51.100.0/24", "203.0.113.0/24"
    secret = add_app(person)
    sign_in("203.0.113.77")
    sign_in("198.51.100.1")
    assert rows() == [(there, True, True), (here, True, True)]
    sign_in("198.51.100.9", code_of(secret))
    # A page of the password before the code adds an entry of its own.
    assert [row for row in rows() if row[1]] == [(there, True, True), (here, True, True)][: 1 + (door == "pages")]
    assert rows()[-1] == (here, False, False)
    client = Client()
    client.force_login(SuperAdminFactory())
    expected = {"password, then code", "not given"}
    assert any(expected <= {*row} for row in rows_of(read(client, SignIn, "changelist", refused="yes")))
    assert any(expected <= {*row} for row in rows_of(read(client, person)))


def test_what_was_typed_as_an_unknown_handle_is_not_stored(person: Account) -> None:
    send(Client(), "my secret passphrase", "wrong")
    Api().post("/api/auth/login", {"handle": "my_secret", "password": PASSWORD})
    assert logged() == [(None, "pages", "password", "", True), (None, "api", "password", "", True)]
    assert "secret" not in str(list(SignIn.objects.values()))


def test_the_network_is_truncated(person: Account) -> None:
    networks = {
        "203.0.113.77": "203.0.113.0/24",
        "2001:db8:1:2:3::4": "2001:db8:1::/48",
        "::ffff:203.0.113.77": "203.0.113.0/24",
        "": "",
    }
    for address in networks:
        send(Client(), person, REMOTE_ADDR=address)
    assert [entry.network for entry in SignIn.objects.order_by("id")] == [*networks.values()]


def test_a_log_that_cannot_be_written_prevents_no_sign_in(person: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: Any, **_options: Any) -> None:
        raise DatabaseError

    monkeypatch.setattr(SignIn, "save", fail)
    client = Client()
    send(client, person)
    assert client.get("/account/me/security/").status_code == 200


def test_super_admins_see_the_sign_ins_of_all_and_of_a_person(person: Account) -> None:
    send(Client(), person, "wrong", REMOTE_ADDR="203.0.113.77")
    send(Client(), "nobody_here", "wrong")
    client = Client()
    client.force_login(SuperAdminFactory())
    everything = rows_of(read(client, SignIn, "changelist"))
    assert any({f"@{person.handle}", "203.0.113.0/24", "password", "refused"} <= {*row} for row in everything)
    assert any("unknown" in row for row in everything)
    found = rows_of(read(client, SignIn, "changelist", q=f"@{person.handle}", refused="yes"))
    assert [row[0] for row in found if "refused" in row] == [f"@{person.handle}"]
    near = rows_of(read(client, SignIn, "changelist", q="203.0."))
    assert [row[0] for row in near if "password" in row] == [f"@{person.handle}"]
    shown = read(client, person)
    assert "203.0.113.0/24" in shown
    assert f"{page(SignIn, 'changelist')}?q=%40{person.handle}" in shown


def test_the_log_ends_after_ninety_days(person: Account) -> None:
    send(Client(), person)
    later = timezone.now() + timedelta(days=sign_ins.STORED_DAYS, seconds=5)
    assert sign_ins.prune(now=timezone.now(), dry_run=False) == {"sign-ins": 0}
    assert sign_ins.prune(now=later, dry_run=True) == {"sign-ins": 1}
    old = SignIn.objects.get()
    send(Client(), person)
    SignIn.objects.exclude(pk=old.pk).update(at=later)
    assert sign_ins.prune(now=later, dry_run=False) == {"sign-ins": 1}
    assert not SignIn.objects.filter(pk=old.pk).exists()
    assert SignIn.objects.count() == 1


def test_sign_ins_in_the_window_of_the_widget_are_told_from_those_of_other_clients(person: Account) -> None:
    secret = add_app(person)
    own = {"X-Community-Panel": "1", "Origin": "http://testserver"}
    foreign = own | {"Origin": "https://site.example"}
    for headers, sent in (
        (own, {"password": "a wrong passphrase"}),
        (own, {}),
        (own, {"code": code_of(secret)}),
        (foreign, {"password": "a wrong passphrase"}),
        ({"Origin": own["Origin"]}, {"password": "a wrong passphrase"}),
    ):
        Api().post("/api/auth/login", {"handle": person.handle, "password": PASSWORD} | sent, headers=headers)
    assert [(door, second, refused) for _handle, door, _first, second, refused in logged()] == [
        ("panel", "", True),
        ("panel", "code", False),
        ("api", "", True),
        ("api", "", True),
    ]
    boss = Client()
    boss.force_login(SuperAdminFactory())
    assert "widget" in [cell for row in rows_of(read(boss, SignIn, "changelist")) for cell in row]
