"""Passwords, addresses, second factors and sessions of a signed-in person."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session
from django.core import mail
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from account_area.models import AccountSession
from account_area.sign_in import sessions
from kernel.pages.sessions import stored_key
from kernel.writes import deletion
from messaging.accounts.second_factor import verify_code
from messaging.accounts.sessions import start_panel_session
from messaging.accounts.visitors import Visitor
from messaging.models import Account, PanelSession, SignIn
from tests.account_area.second_factors import add_app, age, code_of, recovery_codes_of
from tests.admin.bystanders import Unchanged
from tests.agents.racing import race
from tests.api import Api
from tests.factories import PersonFactory
from tests.plans import generic_plan, nodes
from tests.waiting import eventually

pytestmark = pytest.mark.django_db
PASSWORD, OTHER = "a long enough passphrase", "another long passphrase"
VISITOR = Visitor("192.0.2.1")
SIGN_IN, SECURITY, RESET = "/account/sign-in/", "/account/me/security/", "/account/password/reset/"
ADDRESS, CONFIRM, APP = "/account/me/address/", "/account/confirm/", "/account/me/security/app/"
PASSWORD_PAGE = "/account/me/password/"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
LINK = re.compile(r"http://[^/\s]+(/account/\S+)")


@pytest.fixture
def person(db: Any) -> Account:
    account: Account = PersonFactory(password=PASSWORD)
    return account


def signed_in(person: Account, password: str = PASSWORD) -> Client:
    client = Client(headers={"User-Agent": FIREFOX})
    client.post(SIGN_IN, {"login": person.handle, "password": password})
    return client


@pytest.fixture
def client(person: Account) -> Client:
    return signed_in(person)


def is_signed_in(client: Client) -> bool:
    return bool(client.get(SECURITY).status_code == 200)


@pytest.fixture
def link_of(django_capture_on_commit_callbacks: Any) -> Callable[..., str]:
    """The path of the link in the mail that a form sends."""

    def send(client: Client, page: str, address: str) -> str:
        before = len(mail.outbox)
        with django_capture_on_commit_callbacks(execute=True) as callbacks:
            client.post(page, {"address": address})
        assert eventually(lambda: len(mail.outbox) - before == len(callbacks))
        [sent] = mail.outbox[before:]
        found = LINK.search(str(sent.body))
        assert found
        return found[1]

    return send


def confirmed(person: Account, address: str = "ada@example.com") -> EmailAddress:
    return EmailAddress.objects.create(user=person, email=address, verified=True, primary=True)


def session_of(client: Client) -> AccountSession:
    return AccountSession.objects.get(session_id=stored_key(client.session.session_key or ""))


def test_a_new_password_ends_all_other_sessions_and_tokens(
    person: Account, client: Client, unchanged: Unchanged
) -> None:
    other, foreign = signed_in(person), signed_in(PersonFactory(password=PASSWORD))
    unchanged(session_of(foreign))
    token = Api().post("/api/auth/login", {"handle": person.handle, "password": PASSWORD}).json["accessToken"]
    wrong = client.post(PASSWORD_PAGE, {"current": "no", "password": OTHER}).content.decode()
    assert "This password is wrong" in wrong
    common = client.post(PASSWORD_PAGE, {"current": PASSWORD, "password": "password"}).content.decode()
    assert "too common" in common
    assert client.post(PASSWORD_PAGE, {"current": PASSWORD, "password": OTHER})["Location"] == SECURITY
    assert [is_signed_in(each) for each in (client, other, foreign)] == [True, False, True]
    assert Api({"Authorization": f"Bearer {token}"}).get("/api/auth/me").status == 401
    assert is_signed_in(signed_in(person, OTHER))


def test_a_new_password_is_told_to_the_confirmed_address(
    person: Account, client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    person.emailaddress_set.create(email="new@example.com", verified=False)
    with django_capture_on_commit_callbacks() as callbacks:
        client.post(PASSWORD_PAGE, {"current": PASSWORD, "password": OTHER})
    assert not callbacks
    confirmed(person)
    with django_capture_on_commit_callbacks(execute=True):
        client.post(PASSWORD_PAGE, {"current": "wrong", "password": PASSWORD})
        client.post(PASSWORD_PAGE, {"current": OTHER, "password": PASSWORD})
    assert eventually(lambda: [sent.to for sent in mail.outbox] == [["ada@example.com"]])
    assert mail.outbox[-1].subject == "Your password was changed"
    assert RESET in mail.outbox[-1].body


def test_a_link_of_a_mail_sets_a_password_once(person: Account, client: Client, link_of: Any) -> None:
    confirmed(person)
    secret, stranger = add_app(person), Client(HTTP_HOST="localhost")
    other = signed_in(PersonFactory(password=PASSWORD))
    path = link_of(stranger, RESET, "Ada@example.com")
    assert mail.outbox[-1].to == ["ada@example.com"]
    assert client.get(path).status_code == 200
    assert "too short" in client.post(path, {"password": "short"}).content.decode()
    signed_in_before = SignIn.objects.count()
    assert client.post(path, {"password": OTHER})["Location"] == SIGN_IN
    assert [is_signed_in(each) for each in (client, other)] == [False, True]
    # The link is no sign-in; that with the new password is one.
    assert SignIn.objects.count() == signed_in_before
    assert "does not work any more" in stranger.post(path, {"password": PASSWORD}).content.decode()
    # The second factor is asked for as before.
    assert stranger.post(SIGN_IN, {"login": person.handle, "password": OTHER})["Location"] == "/account/sign-in/code/"
    assert stranger.post("/account/sign-in/code/", {"code": code_of(secret)})["Location"] == "/account/"
    entry = SignIn.objects.latest("pk")
    assert (entry.account, entry.first, entry.second, entry.refused) == (person, "password", "app", False)


def test_a_link_is_sent_to_the_address_that_was_verified(person: Account, link_of: Any) -> None:
    """In lower case, the Kelvin sign is a k: what was typed may be the address of another person."""
    confirmed(person, "mike@example.com")
    link_of(Client(HTTP_HOST="localhost"), RESET, "mi\u212ae@example.com")
    assert mail.outbox[-1].to == ["mike@example.com"]


def test_the_answer_to_a_reset_does_not_tell_whether_the_address_is_known(
    person: Account, django_capture_on_commit_callbacks: Any
) -> None:
    confirmed(person)
    person.emailaddress_set.create(email="new@example.com", verified=False)
    closed = PersonFactory()
    closed.emailaddress_set.create(email="old@example.com", verified=True)
    Account.objects.filter(pk=closed.pk).update(is_active=False)
    pages = set()
    with django_capture_on_commit_callbacks(execute=False) as callbacks:
        for address in ("ada@example.com", "new@example.com", "old@example.com", "nobody@example.com"):
            pages.add(Client().post(RESET, {"address": address}).content.decode().replace(address, ""))
    assert len(pages) == 1
    # Each makes a mail, so that none takes longer; those for nobody have no recipient.
    for send in callbacks:
        send()
    assert eventually(lambda: bool(mail.outbox))
    assert [each.to for each in mail.outbox] == [["ada@example.com"]]


@pytest.mark.parametrize(
    "path", ["/account/password/reset/00000000-0000-7000-8000-000000000000/x/", "/account/address/x/"]
)
def test_a_broken_link_says_so(path: str) -> None:
    for response in (Client().get(path), Client().post(path, {"password": OTHER})):
        assert "does not work any more" in response.content.decode()


def test_links_in_mails_name_the_service_whatever_the_host_header_is(
    person: Account, settings: Any, link_of: Any
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    confirmed(person)
    link_of(Client(HTTP_HOST="evil.example"), RESET, "ada@example.com")
    assert settings.BASE_URL in mail.outbox[-1].body
    assert "evil" not in str(mail.outbox[-1].body)


def test_resets_are_throttled_by_address_and_say_how_long(settings: Any, person: Account) -> None:
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"password_reset": (1, 3600)}
    for address in ("ada@example.com", "nobody@example.com"):
        answers = [Client().post(RESET, {"address": address}).content.decode() for _ in range(2)]
        assert ["Too many requests" in answer for answer in answers] == [False, True]


def test_an_address_counts_when_its_link_was_confirmed(
    person: Account, client: Client, link_of: Any, unchanged: Unchanged
) -> None:
    unchanged(confirmed(PersonFactory(), "eve@example.com"))
    path = link_of(client, ADDRESS, "Ada@example.com")
    row = EmailAddress.objects.get(user=person)
    assert (row.email, row.verified) == ("ada@example.com", False)
    assert "ada@example.com" in client.get(path).content.decode()
    row.refresh_from_db()
    assert not row.verified
    client.post(path)
    row.refresh_from_db()
    assert (row.verified, row.primary) == (True, True)
    assert "ada@example.com" in client.get(SECURITY).content.decode()
    client.post(ADDRESS, {"remove": "1"})
    assert not EmailAddress.objects.filter(user=person).exists()


@pytest.mark.django_db(transaction=True)
def test_of_presses_at_once_one_confirms_the_address(person: Account, unchanged: Unchanged) -> None:
    unchanged(confirmed(PersonFactory(), "eve@example.com"))
    confirmed(person, "old@example.com")
    row = EmailAddress.objects.create(user=person, email="new@example.com")
    path = f"/account/address/{EmailConfirmationHMAC(row).key}/"
    pages = race(6, lambda _number: Client().post(path))
    ended = [page.content.decode() for page in pages if page.status_code == 200]
    assert ["does not work any more" in page for page in ended] == [True] * 5
    assert [each.email for each in EmailAddress.objects.filter(user=person)] == ["new@example.com"]
    assert eventually(lambda: bool(mail.outbox))
    assert [each.to for each in mail.outbox] == [["old@example.com"]]
    assert "does not work any more" in Client().get(path).content.decode()


def test_a_new_address_replaces_the_old_one_when_it_is_confirmed(
    person: Account, client: Client, link_of: Any, django_capture_on_commit_callbacks: Any
) -> None:
    confirmed(person, "old@example.com")
    path = link_of(client, ADDRESS, "new@example.com")
    assert EmailAddress.objects.get_verified(person).email == "old@example.com"
    with django_capture_on_commit_callbacks(execute=True):
        client.post(path)
    assert [row.email for row in EmailAddress.objects.filter(user=person)] == ["new@example.com"]
    assert eventually(lambda: mail.outbox[-1].to == ["old@example.com"])


def test_a_mistyped_address_can_be_taken_back_and_the_confirmed_one_is_told(client: Client, person: Account) -> None:
    confirmed(person)
    response = client.post(ADDRESS, {"address": "mistyped@example.com"}, follow=True)
    page = response.content.decode()
    assert [str(each) for each in response.context["messages"]] == ["Open the link in the mail to confirm the address."]
    assert ("mistyped@example.com" in page, 'value="pending"' in page) == (True, True)
    client.post(ADDRESS, {"remove": "pending"})
    assert [row.email for row in EmailAddress.objects.filter(user=person)] == ["ada@example.com"]
    page = client.post(ADDRESS, {"address": "Ada@example.com"}, follow=True).content.decode()
    assert "Your mail address is confirmed." in page
    assert "Open the link" not in page


def test_a_removed_address_is_told_if_it_was_confirmed(
    person: Account, client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    confirmed(person)
    client.post(ADDRESS, {"address": "new@example.com"})
    with django_capture_on_commit_callbacks() as callbacks:
        client.post(ADDRESS, {"remove": "pending"})
    assert not callbacks
    client.post(ADDRESS, {"address": "new@example.com"})
    with django_capture_on_commit_callbacks(execute=True):
        client.post(ADDRESS, {"remove": "all"})
    assert eventually(lambda: [sent.to for sent in mail.outbox] == [["ada@example.com"]])
    assert "was changed" in mail.outbox[-1].subject


def test_an_address_belongs_to_one_account(person: Account, client: Client, link_of: Any) -> None:
    path = link_of(client, ADDRESS, "ada@example.com")
    confirmed(PersonFactory())
    assert "Another account" in client.post(path, follow=True).content.decode()
    assert not EmailAddress.objects.filter(user=person, verified=True).exists()


def test_an_app_is_set_up_with_a_code_and_recovery_codes(person: Account, client: Client) -> None:
    secret = client.get(APP).context["secret"]
    assert "wrong" in client.post(APP, {"code": "000000"}).content.decode()
    assert client.get(APP).context["secret"] == secret
    code = code_of(secret)
    response = client.post(APP, {"code": code})
    assert response["Location"] == "/account/me/security/codes/"
    # Adding a factor has confirmed it.
    codes = client.get(response["Location"]).content.decode()
    assert all(code in codes for code in recovery_codes_of(person))
    assert client.get(APP)["Location"] == SECURITY
    stored = json.dumps([row.data for row in Authenticator.objects.filter(user=person)])
    assert secret not in stored
    old = recovery_codes_of(person)
    client.post("/account/me/security/codes/")
    assert not set(old) & set(recovery_codes_of(person))
    # The code is not accepted again.
    assert verify_code(account=person, code=code, visitor=VISITOR) is None
    assert verify_code(account=person, code=code_of(secret, steps_later=1), visitor=VISITOR) is not None


def test_changes_of_the_sign_in_need_a_recent_password(person: Account, client: Client) -> None:
    age(client)
    for path in (APP, ADDRESS, "/account/me/security/passkey/"):
        for response in (client.get(path), client.post(path, {"address": "ada@example.com", "code": "1"})):
            assert response["Location"] == f"{CONFIRM}?next={path.replace('/', '%2F')}"
    assert "wrong" in client.post(CONFIRM, {"password": "no", "next": APP}).content.decode()
    assert client.get(APP).status_code == 302
    assert client.post(CONFIRM, {"password": PASSWORD, "next": APP})["Location"] == APP
    assert client.get(APP).status_code == 200


def test_a_person_with_a_second_factor_confirms_with_a_code(
    person: Account, client: Client, unchanged: Unchanged
) -> None:
    secret, other = add_app(person), PersonFactory()
    add_app(other)
    unchanged(*Authenticator.objects.filter(user=other))
    [app] = Authenticator.objects.filter(user=person, type="totp")
    path = f"/account/me/security/factors/{app.pk}/remove/"
    age(client)
    assert client.post(path)["Location"].startswith(CONFIRM)
    assert "code" in client.get(CONFIRM).context["form"].fields
    assert client.post(CONFIRM, {"password": PASSWORD, "next": path}).status_code == 200
    assert client.post(CONFIRM, {"code": code_of(secret), "next": path})["Location"] == path
    assert client.get(path).status_code == 200
    assert client.post(path)["Location"] == SECURITY
    assert not Authenticator.objects.filter(user=person).exists()


def test_a_password_confirms_nothing_for_a_person_with_a_second_factor(person: Account, client: Client) -> None:
    """The sign-in before the factor was added does not, and a new password needs a code itself."""
    secret = add_app(person)
    assert client.get("/account/me/security/codes/")["Location"].startswith(CONFIRM)
    sent = {"current": PASSWORD, "password": OTHER}
    assert client.post(PASSWORD_PAGE, sent)["Location"].startswith(CONFIRM)
    client.post(CONFIRM, {"code": code_of(secret)})
    assert client.post(PASSWORD_PAGE, sent)["Location"] == SECURITY
    assert is_signed_in(client)
    assert client.get("/account/me/security/codes/")["Location"].startswith(CONFIRM)


def test_factors_of_others_do_not_exist(person: Account, client: Client) -> None:
    other = PersonFactory()
    add_app(other)
    for row in Authenticator.objects.filter(user=other):
        assert client.post(f"/account/me/security/factors/{row.pk}/remove/").status_code == 404
    assert client.get("/account/me/security/codes/").status_code == 404
    assert Authenticator.objects.filter(user=other).count() == 2


def test_sessions_are_listed_and_ended_one_by_one(person: Account, client: Client, unchanged: Unchanged) -> None:
    other, foreign = signed_in(person), signed_in(PersonFactory(password=PASSWORD))
    for account in (person, PersonFactory()):
        start_panel_session(account=account, signed_in_at=timezone.now())
    unchanged(session_of(client), session_of(foreign), PanelSession.objects.exclude(account=person).get())
    page = client.get(SECURITY)
    assert page.content.decode().count("Firefox · Linux") == 2
    assert [len(page.context["sessions"]), len(page.context["panels"])] == [2, 1]
    start_panel_session(account=(stranger := PersonFactory()), signed_in_at=timezone.now())
    client.post(f"/account/me/security/panels/{stranger.panel_sessions.get().pk}/end/")
    for session in (other.session, foreign.session):
        client.post(f"/account/me/security/sessions/{stored_key(session.session_key)}/end/")
    client.post(f"/account/me/security/panels/{page.context['panels'][0].pk}/end/")
    assert [is_signed_in(each) for each in (client, other, foreign)] == [True, False, True]
    assert [each.panel_sessions.exists() for each in (person, stranger)] == [False, True]


def test_sign_out_everywhere_ends_sessions_panels_and_tokens(
    person: Account, client: Client, unchanged: Unchanged
) -> None:
    bystander = PersonFactory(password=PASSWORD)
    other, foreign = signed_in(person), signed_in(bystander)
    tokens = [
        Api().post("/api/auth/login", {"handle": each.handle, "password": PASSWORD}).json["accessToken"]
        for each in (person, bystander)
    ]
    for account in (person, bystander):
        start_panel_session(account=account, signed_in_at=timezone.now())
    unchanged(session_of(foreign), bystander.panel_sessions.get())
    assert client.get("/account/me/security/sessions/end-all/").status_code == 405
    assert client.post("/account/me/security/sessions/end-all/")["Location"] == SIGN_IN
    person.refresh_from_db()
    assert [is_signed_in(each) for each in (client, other, foreign)] == [False, False, True]
    answers = [Api({"Authorization": f"Bearer {token}"}).get("/api/auth/me").status for token in tokens]
    assert answers == [401, 200]
    assert not sessions.panel_sessions_of(person).exists()
    assert not sessions.sessions_of(person).exists()


def test_a_session_in_use_is_renewed_once_a_day(person: Account, client: Client, settings: Any) -> None:
    signed_in(PersonFactory(password=PASSWORD))
    key = stored_key(client.session.session_key or "")
    others = AccountSession.objects.exclude(pk=key)
    before = others.get().last_used_at
    soon = timezone.now() + timedelta(days=1)
    Session.objects.filter(pk=key).update(expire_date=soon)
    client.get(SECURITY)
    assert Session.objects.get(pk=key).expire_date == soon
    session = client.session
    session["used_at"] = (timezone.now() - timedelta(days=2)).isoformat()
    session.save()
    response = client.get(SECURITY)
    assert settings.SESSION_COOKIE_NAME in response.cookies
    assert Session.objects.get(pk=key).expire_date > soon
    assert AccountSession.objects.get(pk=key).last_used_at > before
    assert others.get().last_used_at == before


def test_a_session_of_nobody_is_not_renewed() -> None:
    client = Client()
    session = client.session
    session["anything"] = "x"
    session.save()
    assert client.get(SIGN_IN).status_code == 200
    assert dict(client.session) == {"anything": "x"}


def test_prune_removes_expired_sessions(person: Account, client: Client) -> None:
    other = signed_in(person)
    Session.objects.filter(pk=stored_key(other.session.session_key or "")).update(expire_date=timezone.now())
    for dry_run in (True, False):
        assert sessions.prune(now=timezone.now(), dry_run=dry_run) == {"expired sessions of the pages": 1}
    assert AccountSession.objects.count() == Session.objects.count() == 1
    assert is_signed_in(client)


MANY_SESSIONS = """
WITH made AS (
    INSERT INTO django_session (session_key, session_data, expire_date)
    SELECT lpad(n::text, 40, '0'), '', now() + interval '1 day' FROM generate_series(1, 5000) n RETURNING session_key
)
INSERT INTO account_area_accountsession (session_id, account_id, device) SELECT session_key, %s, '' FROM made
"""


def test_prune_joins_the_sessions_that_are_gone(person: Account) -> None:
    """A list of all sessions would be searched for each one, where it takes more than work_mem."""
    with connection.cursor() as cursor:
        cursor.execute(MANY_SESSIONS, [person.pk])
        cursor.execute("DELETE FROM django_session WHERE session_key > lpad('4990', 40, '0')")
        cursor.execute("ANALYZE django_session, account_area_accountsession")
        cursor.execute("SET LOCAL work_mem = '64kB'")
    with transaction.atomic(), CaptureQueriesContext(connection) as queries:
        sessions.prune(now=timezone.now(), dry_run=False)
        transaction.set_rollback(True)
    (statement,) = [
        query["sql"] for query in queries if query["sql"].startswith('DELETE FROM "account_area_accountsession"')
    ]
    plan = generic_plan(statement, {})
    assert not [node for node in nodes(plan) if "Subplan Name" in node]
    assert any(node.get("Join Type") == "Anti" for node in nodes(plan))
    assert AccountSession.objects.count() == 4990


def test_prune_deletes_expired_sessions_in_batches(person: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "BATCH", 2)
    for _ in range(5):
        signed_in(person)
    Session.objects.update(expire_date=timezone.now())
    with CaptureQueriesContext(connection) as queries:
        assert sessions.prune(now=timezone.now(), dry_run=False) == {"expired sessions of the pages": 5}
    assert sum(query["sql"].startswith('DELETE FROM "django_session"') for query in queries) == 3
    assert not AccountSession.objects.exists()


@pytest.mark.parametrize("sent", ["", "null", "[]", "{}", '{"id": 1}', '{"response": {"userHandle": 5}}', "x" * 30_000])
def test_a_nonsense_passkey_is_refused(person: Account, client: Client, sent: str) -> None:
    client.get("/account/me/security/passkey/")
    added = client.post("/account/me/security/passkey/", {"name": "Key", "credential": sent})
    assert added.status_code == 200
    stranger = Client()
    assert stranger.get("/account/sign-in/passkey/").json()["publicKey"]["challenge"]
    assert stranger.post("/account/sign-in/passkey/", {"credential": sent})["Location"] == SIGN_IN
    add_app(person)
    stranger.post(SIGN_IN, {"login": person.handle, "password": PASSWORD})
    assert stranger.post("/account/sign-in/code/", {"credential": sent}).status_code == 200
    assert not is_signed_in(stranger)
    age(client)
    client.get(CONFIRM)
    assert client.post(CONFIRM, {"credential": sent}).status_code == 200
    assert client.get(APP)["Location"].startswith(CONFIRM)
    assert not Authenticator.objects.filter(type="webauthn").exists()
