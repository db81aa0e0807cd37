"""One rule limits passwords and codes at every door, and strangers lock nobody out."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from allauth.account import app_settings
from allauth.account.models import EmailAddress
from django.core import mail
from django.db.models import F
from django.test import Client

from kernel.writes.models import RateLimitEvent
from messaging.accounts.visitors import ACCOUNTS_MAX, Visitor, cookie_name
from messaging.models import Account
from tests.account_area.second_factors import add_app, code_of
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.factories import PersonFactory
from tests.waiting import eventually

pytestmark = pytest.mark.django_db
PASSWORD, WRONG = "a long enough passphrase", "another long passphrase"
HOME, NEIGHBOUR, AWAY = "198.51.100.7", "198.51.100.90", "203.0.113.5"
HOME_6, NEIGHBOUR_6, AWAY_6 = "2001:db8:1:1::7", "2001:db8:1:fff::9", "2001:db8:2:1::7"
REFUSED = "Too many wrong passwords."


@pytest.fixture(autouse=True)
def limits(settings: Any) -> None:
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"sign_in": (100, 60), "sign_in_account": (2, 3600)}


@pytest.fixture
def ada() -> Account:
    person: Account = PersonFactory(handle="ada_l", password=PASSWORD)
    EmailAddress.objects.create(user=person, email="ada@example.com", verified=True, primary=True)
    return person


def by_page(login: str, password: str = PASSWORD, *, address: str = AWAY, client: Client | None = None) -> str:
    """The outcome of a sign-in on the page; the panel's window has the API's door."""
    response = (client or Client()).post(
        "/account/sign-in/", {"login": login, "password": password}, REMOTE_ADDR=address
    )
    if response.status_code == 302:
        return "open"
    return "closed" if REFUSED in response.content.decode() else "wrong"


def by_api(login: str, password: str = PASSWORD, *, address: str = AWAY) -> str:
    answer = Api().post("/api/auth/login", {"handle": login, "password": password}, address=address)
    return {200: "open", 401: "wrong", 429: "closed"}[answer.status]


def strangers_try(login: str, times: int = 3) -> list[str]:
    return [by_page(login, WRONG, address=f"192.0.{number}.1") for number in range(times)]


def opened_before(login: str, *addresses: str) -> Client:
    client = Client()
    for address in addresses:
        assert by_page(login, client=client, address=address) == "open"
        client.post("/account/sign-out/")
    return client


def age_events(**age: float) -> None:
    RateLimitEvent.objects.update(at=F("at") - timedelta(**age))


@pytest.mark.parametrize("login", ["ada_l", "nobody_here"])
@pytest.mark.parametrize("doors", [(by_page, by_api, by_page), (by_api, by_page, by_api), (by_api, by_api, by_api)])
def test_all_doors_share_the_tries_of_a_name(doors: Any, login: str, ada: Account) -> None:
    PersonFactory(handle="grace", password=PASSWORD)
    assert [door(login, WRONG, address=f"192.0.{n}.1") for n, door in enumerate(doors)] == ["wrong", "wrong", "closed"]
    for door in (by_page, by_api):
        assert (door(login), door("grace")) == ("closed", "open")


@pytest.mark.parametrize(("home", "neighbour", "away"), [(HOME, NEIGHBOUR, AWAY), (HOME_6, NEIGHBOUR_6, AWAY_6)])
def test_strangers_close_no_browser_and_no_network_that_has_signed_in(
    home: str, neighbour: str, away: str, ada: Account
) -> None:
    known = opened_before("ada_l", home)
    assert strangers_try("ada_l") == ["wrong", "wrong", "closed"]
    assert [by_page("ada_l", address=away), by_api("ada_l", address=away)] == ["closed", "closed"]
    assert [by_page("ada_l", address=neighbour), by_api("ada_l", address=neighbour)] == ["open", "open"]
    assert by_page("ada_l", address=AWAY_6, client=known) == "open"


def test_a_sign_in_by_the_api_makes_its_network_and_its_browser_known(ada: Account) -> None:
    client = Client(REMOTE_ADDR=HOME)
    body = {"handle": "ada_l", "password": PASSWORD}
    response = client.post("/api/auth/login", body, content_type="application/json")
    cookie = response.cookies[cookie_name()]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")
    assert strangers_try("ada_l")[-1] == "closed"
    assert by_page("ada_l", address=NEIGHBOUR) == "open"
    again = client.post("/api/auth/login", body, content_type="application/json", REMOTE_ADDR=AWAY)
    assert again.status_code == 200


def test_a_refused_sign_in_makes_nothing_known(ada: Account) -> None:
    client = Client()
    assert by_page("ada_l", WRONG, address=HOME, client=client) == "wrong"
    assert cookie_name() not in client.cookies
    assert strangers_try("ada_l", 1) == ["wrong"]
    assert by_page("ada_l", address=HOME, client=client) == "closed"


def test_known_browsers_and_networks_have_the_same_limits_of_their_own(ada: Account) -> None:
    known = opened_before("ada_l", HOME)
    in_network = [by_page("ada_l", WRONG, address=NEIGHBOUR) for _ in range(3)]
    in_browser = [by_page("ada_l", WRONG, address=AWAY, client=known) for _ in range(3)]
    assert in_network == ["wrong", "wrong", "closed"]
    # The person has tried: no stranger can, and no mail helps.
    assert in_browser == ["wrong", "wrong", "wrong"]
    page = known.post("/account/sign-in/", {"login": "ada_l", "password": PASSWORD}).content.decode()
    assert "Too many requests" in page
    assert by_api("ada_l") == "open"


def test_the_tries_of_a_minute_are_bounded_for_known_visitors_too(ada: Account, settings: Any) -> None:
    """Each costs the hash of a password, whether it is right or wrong."""
    known = opened_before("ada_l", HOME)
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"sign_in": (2, 60)}
    RateLimitEvent.objects.all().delete()
    assert [by_api("ada_l", address=NEIGHBOUR) for _ in range(3)] == ["open", "open", "closed"]
    RateLimitEvent.objects.all().delete()
    bodies = [known.post("/account/sign-in/", {"login": "ada_l", "password": WRONG}) for _ in range(3)]
    assert ["Too many requests" in each.content.decode() for each in bodies] == [False, False, True]


def test_right_passwords_use_up_no_tries(ada: Account) -> None:
    assert [by_api("ada_l", address=f"192.0.{number}.1") for number in range(4)] == ["open"] * 4


def test_the_windows_slide(ada: Account, settings: Any) -> None:
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"sign_in": (2, 60), "sign_in_account": (3, 3600)}

    def attempt(address: str = AWAY) -> Answer:
        return Api().post("/api/auth/login", {"handle": "ada_l", "password": WRONG}, address=address)

    assert attempt().status == 401
    age_events(seconds=40)
    assert [attempt().status, attempt().status] == [401, 429]
    age_events(seconds=15)
    refused = attempt()
    assert (refused.status, refused.json["counter"]) == (429, "sign_in")
    # The first try leaves the minute then, and the second one does not.
    assert 1 <= int(refused.headers["Retry-After"]) <= 5
    age_events(seconds=5.5)
    assert [attempt().status, attempt().status] == [401, 429]
    refused = attempt("192.0.2.1")
    assert (refused.error, refused.json["counter"], refused.json["limit"]) == ("rate_limited", "sign_in_account", 3)
    age_events(minutes=59)
    assert attempt("192.0.2.1").status == 401


@pytest.mark.django_db(transaction=True)
def test_tries_at_once_do_not_pass_the_limit(ada: Account) -> None:
    outcomes = race(8, lambda index: by_api("ada_l", WRONG, address=f"192.0.{index}.1"))
    assert sorted(outcomes) == ["closed"] * 6 + ["wrong"] * 2


def test_only_macs_of_names_and_addresses_are_stored(ada: Account) -> None:
    by_page("ada@example.com", WRONG)
    assert RateLimitEvent.objects.count() == 2
    assert not RateLimitEvent.objects.filter(account_id=ada.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_a_link_in_a_mail_opens_the_door_that_strangers_closed(ada: Account) -> None:
    grace = PersonFactory(handle="grace", password=PASSWORD)
    EmailAddress.objects.create(user=grace, email="grace@example.com", verified=False)
    Account.objects.filter(pk=ada.pk).update(language="de")
    for login in ("grace", "nobody_here", "ada_l"):
        strangers_try(login, 6)
    assert eventually(lambda: bool(mail.outbox))
    link = re.search(r"http://[^/\s]+(/account/sign-in/open/\S+)", str(mail.outbox[0].body))
    assert link
    assert mail.outbox[0].to == ["ada@example.com"]
    assert "falsche Passwörter" in mail.outbox[0].subject
    client = Client()
    assert "@ada_l" in client.get(link[1]).content.decode()
    assert by_page("ada_l", client=client) == "closed", "programs of mail servers open links"
    assert client.post(link[1])["Location"] == "/account/sign-in/"
    assert (by_page("grace", client=client), by_page("ada_l")) == ("closed", "closed")
    assert by_page("ada_l", client=client) == "open"
    assert len(mail.outbox) == 1
    # A day later another one is sent.
    RateLimitEvent.objects.exclude(counter="sign_in_link").delete()
    age_events(hours=24)
    strangers_try("ada_l", 4)
    assert eventually(lambda: len(mail.outbox) == 2)


def test_browsers_that_open_one_link_share_its_tries(ada: Account) -> None:
    from account_area.sign_in.openings import _signer

    link = f"/account/sign-in/open/{_signer().sign(ada.pk)}/"
    strangers_try("ada_l")
    browsers = [Client(), Client(), Client()]
    assert [client.post(link).status_code for client in browsers] == [302] * 3
    assert [by_page("ada_l", WRONG, client=client) for client in browsers[:2]] == ["wrong"] * 2
    page = browsers[2].post("/account/sign-in/", {"login": "ada_l", "password": PASSWORD}).content.decode()
    assert "Too many requests" in page


@pytest.mark.parametrize("fault", ["other signature", "too old", "suspended", "no id"])
def test_a_link_that_does_not_work_says_so(
    fault: str, ada: Account, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from account_area.sign_in import openings

    token = openings._signer().sign("no id" if fault == "no id" else ada.pk)
    if fault == "other signature":
        token = token[:-1] + ("a" if token[-1] != "a" else "b")
    if fault == "too old":
        monkeypatch.setattr(openings, "VALID_SECONDS", -1)
    if fault == "suspended":
        Account.objects.filter(pk=ada.pk).update(is_active=False)
    for method in ("get", "post"):
        response = getattr(Client(), method)(f"/account/sign-in/open/{token}/")
        assert "does not work any more" in response.content.decode()
        assert cookie_name() not in response.cookies


def test_a_browser_is_known_to_the_last_five_accounts_and_to_no_other(ada: Account) -> None:
    client = Client()
    people = [PersonFactory(password=PASSWORD) for _ in range(ACCOUNTS_MAX + 1)]
    for person in people:
        assert by_page(person.handle, client=client) == "open"
        client.post("/account/sign-out/")
    value = client.cookies[cookie_name()].value
    known = [Visitor(AWAY, cookie=value).browser_of(person) is not None for person in (*people, ada)]
    assert known == [False, *[True] * ACCOUNTS_MAX, False]
    for other in (
        "",
        ".",
        "é" * 44,
        value[1:],
        value[:43] + "é" + value[44:],
        "a" * 4000,
    ):
        assert Visitor(AWAY, cookie=other).browser_of(people[-1]) is None, other
    same = client.cookies[cookie_name()].value.split(".")[0]
    assert by_page(people[-1].handle, client=client) == "open"
    assert client.cookies[cookie_name()].value.split(".")[0] == same


@pytest.mark.parametrize("end", ["another password", "log out everywhere", "a link in a mail"])
def test_what_ends_the_sessions_ends_the_known_browsers_of_the_account(end: str, ada: Account) -> None:
    """A thief who has signed in with the former password gets the tries of strangers, and the person has their own."""
    thief, own, new = opened_before("ada_l", HOME), Client(), "a third long passphrase"
    grace = PersonFactory(handle="grace", password=PASSWORD)
    assert by_page("grace", client=thief) == "open"
    thief.post("/account/sign-out/")
    if end == "a link in a mail":
        ada.refresh_from_db()
        token = app_settings.PASSWORD_RESET_TOKEN_GENERATOR().make_token(ada)
        assert own.post(f"/account/password/reset/{ada.pk}/{token}/", {"password": new}).status_code == 302
    else:
        assert by_page("ada_l", client=own) == "open"
        if end == "another password":
            own.post("/account/me/password/", {"current": PASSWORD, "password": new})
        else:
            assert own.post("/account/me/security/sessions/end-all/").status_code == 302
            new = PASSWORD
            assert by_page("ada_l", client=own) == "open"
            own.post("/account/sign-out/")
    own.post("/account/sign-out/")
    strangers_try("ada_l")
    assert by_page("ada_l", new, client=thief, address="192.0.77.1") == "closed"
    assert by_page("ada_l", new, client=own, address="192.0.78.1") == "open"
    strangers_try("grace")
    assert Visitor(AWAY, cookie=thief.cookies[cookie_name()].value).browser_of(grace) is not None


def test_a_thief_of_a_password_uses_up_no_codes_of_a_known_browser(ada: Account, settings: Any) -> None:
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"second_factor": (2, 3600)}
    known, secret = opened_before("ada_l", HOME), add_app(ada)

    def by_code(client: Client, code: str, address: str) -> bool:
        assert by_page("ada_l", client=client, address=address) == "open"
        page = client.post("/account/sign-in/code/", {"code": code}, REMOTE_ADDR=address)
        return "Too many requests" in page.content.decode()

    assert [by_code(Client(), "000000", f"192.0.{number}.1") for number in range(3)] == [False, False, True]
    assert not by_code(known, code_of(secret), AWAY)
    assert known.get("/account/me/security/").status_code == 200
