"""Signing up, in and out on the pages; every mapped route has a page of ours, and a session opens nothing else."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.conf import settings as configured
from django.test import Client
from django.urls import Resolver404, resolve
from django.utils.html import escape

from account_area.sign_in.urls import urlpatterns
from kernel.api.credentials import CredentialKind
from kernel.api.operations import all_operations
from messaging.models import Account, PostsChoice
from messaging.privacy.erasing import request_erasure
from tests.account_area.second_factors import add_app, code_of, recovery_codes_of
from tests.agents.factories import agent_with_token
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough passphrase"
SIGN_IN, SIGN_UP, SECOND_STEP = "/account/sign-in/", "/account/sign-up/", "/account/sign-in/code/"
WRONG = "Handle or password is wrong."
CLOSED = "Too many wrong passwords."
OF_ALLAUTH = ("account/", "mfa/", "socialaccount/", "allauth/", "usersessions/")
VALUES = {"id": "0199f000-0000-7000-8000-000000000000", "token": "x", "key": "x", "provider_id": "oidc"}
ENDS_SESSION = {"account_logout", "account_end_everywhere"}


def sign_in(client: Client, person: Account, password: str = PASSWORD, **more: str) -> Any:
    return client.post(SIGN_IN, {"login": person.handle, "password": password} | more)


def is_signed_in(client: Client) -> bool:
    return bool(client.get("/account/me/security/").status_code == 200)


def test_a_new_person_is_signed_in_and_goes_where_they_wanted() -> None:
    client = Client()
    fields = {"handle": "ada_l", "name": "Ada Lovelace", "password": PASSWORD, "next": "/account/me/security/"}
    response = client.post(SIGN_UP, fields)
    assert (response.status_code, response["Location"]) == (302, "/account/me/security/")
    assert client.get(response["Location"]).status_code == 200
    person = Account.objects.get(handle="ada_l")
    assert (person.name, person.kind, person.is_staff, person.is_superuser) == ("Ada Lovelace", "human", False, False)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"handle": "Ada"}, "errorlist"),
        ({"handle": "a\x00b"}, "Not possible"),
        ({"password": "short"}, "too short"),
        ({"password": "password"}, "too common"),
        ({"name": ""}, "required"),
        ({"handle": "x" * 31}, "at most 30"),
        ({"handle": "taken_one"}, "already in use"),
    ],
)
def test_a_refused_sign_up_says_why_and_creates_nobody(change: dict[str, str], sentence: str) -> None:
    taken = PersonFactory(handle="taken_one")
    client = Client()
    response = client.post(SIGN_UP, {"handle": "ada_l", "name": "Ada", "password": PASSWORD} | change)
    assert response.status_code in (200, 400)
    assert sentence in response.content.decode()
    assert not is_signed_in(client)
    assert Account.objects.get(kind="human") == taken


def test_closed_registration_has_no_page(settings: Any) -> None:
    settings.REGISTRATION_OPEN = False
    fields = {"handle": "ada_l", "name": "Ada", "password": PASSWORD}
    assert [Client().get(SIGN_UP).status_code, Client().post(SIGN_UP, fields).status_code] == [403, 403]
    assert SIGN_UP not in Client().get(SIGN_IN).content.decode()
    assert not Account.objects.filter(handle="ada_l").exists()


def test_the_handle_or_the_verified_address_signs_in() -> None:
    person = PersonFactory(password=PASSWORD)
    person.emailaddress_set.create(email="ada@example.com", verified=True, primary=True)
    for login in (person.handle, f"@{person.handle}", "Ada@Example.com"):
        client = Client()
        response = client.post(SIGN_IN, {"login": login, "password": PASSWORD})
        assert (response.status_code, response["Location"]) == (302, "/account/")
        assert is_signed_in(client)


def test_refused_sign_ins_look_the_same() -> None:
    closed, unverified = PersonFactory(password=PASSWORD), PersonFactory(password=PASSWORD)
    Account.objects.filter(pk=closed.pk).update(is_active=False)
    unverified.emailaddress_set.create(email="eve@example.com", verified=False)
    agent = agent_with_token().agent.account
    known = PersonFactory(password=PASSWORD)
    logins = [closed.handle, "nobody_here", "no handle", "eve@example.com", agent.handle, known.handle]
    pages = set()
    for login in logins:
        password = "another long passphrase" if login == known.handle else PASSWORD
        client = Client()
        response = client.post(SIGN_IN, {"login": login, "password": password})
        body = response.content.decode().replace(f'value="{escape(login)}"', "")
        assert WRONG in body
        assert not is_signed_in(client)
        token = response.context["csrf_token"]
        pages.add(body.replace(str(token), ""))
    assert len(pages) == 1


def test_a_sign_in_never_leads_to_another_site() -> None:
    person, own = PersonFactory(password=PASSWORD), Client()
    own.force_login(person)
    for target in (
        *("https://evil.example/", "//evil.example/", "///evil.example", "/\\evil.example"),
        *("javascript:alert(1)", "http:evil"),
    ):
        client = Client()
        assert "evil" not in client.get(SIGN_IN, {"next": target}).content.decode(), target
        assert sign_in(client, person, next=target)["Location"] == "/account/", target
        assert own.get(SIGN_IN, {"next": target})["Location"] == "/account/", target


def test_a_session_from_before_the_sign_in_is_not_taken_over() -> None:
    person, client = PersonFactory(password=PASSWORD), Client()
    add_app(person)
    # Only the second step stores something before.
    sign_in(client, person)
    before = client.cookies[configured.SESSION_COOKIE_NAME].value
    thief = Client()
    thief.cookies[configured.SESSION_COOKIE_NAME] = before
    client.post(SECOND_STEP, {"code": recovery_codes_of(person)[0]})
    assert client.cookies[configured.SESSION_COOKIE_NAME].value != before
    assert (is_signed_in(client), is_signed_in(thief)) == (True, False)


def test_forms_need_the_csrf_token() -> None:
    person, client = PersonFactory(password=PASSWORD), Client(enforce_csrf_checks=True)
    assert sign_in(client, person).status_code == 403
    page = client.get(SIGN_IN)
    token = page.context["csrf_token"]
    assert sign_in(client, person, csrfmiddlewaretoken=str(token)).status_code == 302


def test_sign_out_is_a_post_and_ends_the_session() -> None:
    person, client = PersonFactory(password=PASSWORD), Client()
    sign_in(client, person)
    copy = Client()
    copy.cookies = client.cookies.__class__(client.cookies.output(header=""))
    assert client.get("/account/sign-out/").status_code == 405
    assert client.post("/account/sign-out/")["Location"] == SIGN_IN
    assert (is_signed_in(client), is_signed_in(copy)) == (False, False)
    assert client.post("/account/sign-out/").status_code == 302


def test_the_cookie_is_for_this_host_and_no_script(settings: Any) -> None:
    person, client = PersonFactory(password=PASSWORD), Client()
    sign_in(client, person)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["domain"]) == (True, "Lax", "/", "")
    assert int(cookie["max-age"]) == 14 * 24 * 3600


def test_too_many_sign_ins_are_told_to_wait(settings: Any) -> None:
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"sign_in_account": (2, 3600)}
    for person in (PersonFactory(password=PASSWORD), Account(handle="nobody_here")):
        answers = [sign_in(Client(REMOTE_ADDR=f"192.0.2.{n}"), person, "wrong").content.decode() for n in range(3)]
        assert [WRONG in answer for answer in answers] == [True, True, False]
        assert CLOSED in answers[2]


@pytest.mark.parametrize(
    ("spellings", "other"),
    [
        (["@ada_l", "@ ada_l", " Ada_L"], " Ada@mail.example"),
        (["ada@mail.example", " Ada@mail.example", "@ADA@mail.example"], "ada_l"),
    ],
    ids=["handle", "address"],
)
def test_spellings_count_as_one_but_an_address_does_not_tell_its_handle(
    spellings: list[str], other: str, settings: Any
) -> None:
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"sign_in_account": (2, 3600), "sign_in": (100, 60)}
    person = PersonFactory(handle="ada_l", password=PASSWORD)
    EmailAddress.objects.create(user=person, email="ada@mail.example", verified=True)

    def answer(login: str) -> str:
        content: str = Client().post(SIGN_IN, {"login": login, "password": "x"}).content.decode()
        return content

    answers = [answer(spelling) for spelling in spellings]
    assert [WRONG in each for each in answers] == [True, True, False]
    assert CLOSED in answers[2]
    assert WRONG in answer(other)


def test_strangers_do_not_use_up_the_confirmations_of_a_session(settings: Any) -> None:
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"sign_in_account": (2, 3600), "sign_in": (100, 60)}
    person, client = PersonFactory(password=PASSWORD), Client()
    sign_in(client, person)
    for login in (person.handle, f"@{person.pk}", f"@@{person.pk}"):
        for _ in range(3):
            answer = Client().post(SIGN_IN, {"login": login, "password": "x"}).content.decode()
        assert CLOSED in answer
    assert client.post("/account/confirm/", {"password": PASSWORD}).status_code == 302


def test_challenges_for_passkeys_are_throttled_and_end_soon(settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"session": (1, 3600)}
    person, client = PersonFactory(password=PASSWORD), Client()
    assert client.get("/account/sign-in/passkey/").status_code == 200
    assert client.session.get_expiry_age() <= 600
    assert Client().get("/account/sign-in/passkey/").status_code == 429
    sign_in(client, person)
    assert client.session.get_expiry_age() > 13 * 24 * 3600


def test_sign_ins_are_throttled_by_address(settings: Any) -> None:
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"sign_in": (1, 3600)}
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"register": (0, 3600)}
    person = PersonFactory(password=PASSWORD)
    assert sign_in(Client(), PersonFactory(), "wrong").status_code == 200
    assert "Too many requests" in sign_in(Client(), person).content.decode()
    fields = {"handle": "ada_l", "name": "Ada", "password": PASSWORD}
    assert "Too many requests" in Client().post(SIGN_UP, fields).content.decode()


def test_a_person_with_a_second_factor_gives_a_code() -> None:
    person = PersonFactory(password=PASSWORD)
    secret = add_app(person)
    client = Client()
    assert sign_in(client, person, next="/account/me/security/")["Location"] == SECOND_STEP
    assert not is_signed_in(client)
    wrong = client.post(SECOND_STEP, {"code": "000000"}).content.decode()
    assert "wrong or was used before" in wrong
    assert not is_signed_in(client)
    assert client.post(SECOND_STEP, {"code": code_of(secret)})["Location"] == "/account/me/security/"
    assert is_signed_in(client)


def test_a_code_is_accepted_once() -> None:
    person = PersonFactory(password=PASSWORD)
    secret = add_app(person)
    code, recovery = code_of(secret), recovery_codes_of(person)[0]
    outcomes = []
    for each in (recovery, recovery, code, code):
        client = Client()
        sign_in(client, person)
        client.post(SECOND_STEP, {"code": each})
        outcomes.append(is_signed_in(client))
    assert outcomes == [True, False, True, False]


def test_codes_are_throttled_by_person(settings: Any) -> None:
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"second_factor": (2, 3600)}
    person = PersonFactory(password=PASSWORD)
    secret = add_app(person)
    client = Client()
    sign_in(client, person)
    answers = [client.post(SECOND_STEP, {"code": code}).content.decode() for code in ("1", "2", code_of(secret))]
    assert ["Too many requests" in answer for answer in answers] == [False, False, True]
    assert not is_signed_in(client)


def test_the_second_step_alone_leads_to_the_first() -> None:
    for response in (Client().get(SECOND_STEP), Client().post(SECOND_STEP, {"code": "123456"})):
        assert (response.status_code, response["Location"]) == (302, SIGN_IN)


def test_the_admin_has_no_sign_in_of_its_own() -> None:
    boss = SuperAdminFactory(password=PASSWORD)
    secret = add_app(boss)
    client = Client()
    response = client.post("/admin/login/?next=/admin/messaging/", {"username": boss.handle, "password": PASSWORD})
    assert response["Location"] == f"{SIGN_IN}?next=/admin/messaging/"
    sign_in(client, boss, next="/admin/")
    assert client.get("/admin/").status_code == 302
    assert client.post(SECOND_STEP, {"code": code_of(secret)})["Location"] == "/admin/"
    assert client.get("/admin/").status_code == 200


def test_the_admin_has_no_form_for_a_password_of_its_own() -> None:
    boss, client = SuperAdminFactory(password=PASSWORD), Client()
    client.force_login(boss)
    form = {"old_password": PASSWORD, "new_password1": "another one 17", "new_password2": "another one 17"}
    for response in (client.get("/admin/password_change/"), client.post("/admin/password_change/", form)):
        assert response["Location"] == "/account/me/password/"
    assert Account.objects.get(pk=boss.pk).check_password(PASSWORD)


def test_super_admins_need_a_second_factor_if_the_operator_says_so(settings: Any) -> None:
    settings.ADMIN_MFA = True
    boss, client = SuperAdminFactory(password=PASSWORD), Client()
    sign_in(client, boss)
    for path in ("/admin/", "/admin/messaging/account/"):
        assert client.get(path)["Location"] == "/account/me/security/"
    assert "second factor" in client.get("/account/me/security/").content.decode()
    add_app(boss)
    assert client.get("/admin/").status_code == 200


def test_a_suspended_person_is_signed_out_at_once() -> None:
    people, clients = [PersonFactory(password=PASSWORD) for _ in range(2)], [Client(), Client()]
    for client, person in zip(clients, people, strict=True):
        sign_in(client, person)
    Account.objects.filter(pk=people[0].pk).update(is_active=False)
    assert [is_signed_in(client) for client in clients] == [False, True]


def paths() -> list[tuple[str, str]]:
    """(name, path) of every route, with values for its parameters."""
    found = []
    for route in urlpatterns:
        path = re.sub(r"<int:\w+>", "1", str(route.pattern))
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: VALUES[match[1]], path)
        found.append((str(route.name), f"/account/{path}"))
    assert len(found) > 10
    return found


def test_no_route_shows_a_template_of_allauth() -> None:
    boss = SuperAdminFactory()
    add_app(boss)
    signed_in, nobody = Client(), Client()
    signed_in.force_login(boss)
    for name, path in paths():
        for client in (nobody, signed_in):
            for response in (client.get(path), client.post(path, {"x": "1"})):
                assert response.status_code in {200, 302, 403, 404, 405}, (path, response.status_code)
                assert {"private", "no-store"} <= set(response["Cache-Control"].split(", ")), path
                assert "unsafe" not in response["Content-Security-Policy"], path
                names = [str(template.name) for template in getattr(response, "templates", ()) if template.name]
                assert not [each for each in names if each.startswith(OF_ALLAUTH)], path
        if name in ENDS_SESSION:
            signed_in.force_login(boss)


@pytest.mark.parametrize("path", ["login/", "signup/", "2fa/", "email/", "social/connections/", "sign-up/passkey/"])
def test_other_routes_of_allauth_do_not_exist(path: str) -> None:
    with pytest.raises(Resolver404):
        resolve(f"/account/{path}")
    assert Client().get(f"/account/{path}").status_code == 404


def test_no_operation_of_the_api_reads_the_session() -> None:
    client = Client()
    client.force_login(SuperAdminFactory())
    for path, method, operation in all_operations():
        if CredentialKind.PUBLIC in operation.callers:
            continue
        filled = re.sub(r"<(?:\w+:)?\w+>", VALUES["id"], f"/{path.lstrip('/')}")
        filled = re.sub(r"\{\w+\}", VALUES["id"], filled)
        response = client.generic(method, filled, data="{}", content_type="application/json")
        assert (response.status_code, response.json()["error"]) == (401, "not_authenticated"), (method, filled)
        assert "Set-Cookie" not in response.headers


def test_only_the_pages_offer_the_session_to_a_panel() -> None:
    client, strict = Client(), Client(enforce_csrf_checks=True)
    assert client.get("/account/continue/").json() == {"user": None}
    person = SuperAdminFactory()
    for each in (client, strict):
        each.force_login(person)
    offered = strict.get("/account/continue/").json()
    assert offered["user"]["handle"] == person.handle
    assert strict.post("/account/continue/").status_code == 403
    taken = strict.post("/account/continue/", headers={"X-CSRFToken": offered["csrf"]}).json()
    bearer = {"Authorization": f"Bearer {taken['accessToken']}"}
    assert Client().get("/api/auth/me", headers=bearer).json()["handle"] == person.handle


def test_a_panel_is_not_offered_a_session_that_it_would_be_refused(settings: Any) -> None:
    waiting, boss = PersonFactory(), SuperAdminFactory()
    request_erasure(person=waiting, posts=PostsChoice.ANONYMOUS, by=waiting)
    waiting.refresh_from_db()
    settings.ADMIN_MFA = True
    for person, status in ((waiting, 403), (boss, 401)):
        client = Client()
        client.force_login(person)
        assert client.get("/account/continue/").json() == {"user": None}
        assert client.post("/account/continue/").status_code == status
    add_app(boss)
    client.force_login(boss)
    assert client.get("/account/continue/").json()["user"]["handle"] == boss.handle
