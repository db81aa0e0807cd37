"""A new password, logoutAll and a suspension revoke the tokens issued before, and none issued after."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt as pyjwt
import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.management.commands import changepassword
from django.core.management import call_command
from django.test import Client

from messaging.accounts.services import ensure_person
from messaging.models import Account
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.config_api.test_authentication import claims, signed
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
ANOTHER = "another long passphrase"
STRONGER = f"{__name__}.Stronger"


class Stronger(PBKDF2PasswordHasher):
    """Than the hashes of the tests, though not as slow as in production."""

    iterations = 1_000


@pytest.fixture(autouse=True)
def _unthrottled(settings: Any) -> None:
    settings.SOFT_THROTTLES = {name: (10**6, seconds) for name, (_calls, seconds) in settings.SOFT_THROTTLES.items()}


@pytest.fixture
def ada() -> Account:
    return PersonFactory(handle="ada_l", password=PASSWORD)


class Session:
    """The tokens of one sign-in through the API, and a user token created with them."""

    def __init__(self, handle: str = "ada_l", password: str = PASSWORD) -> None:
        response = Api().post("/api/auth/login", {"handle": handle, "password": password})
        assert response.status == 200
        self.refresh_token, access = response.json["refreshToken"], response.json["accessToken"]
        self.signed_in = Api({"Authorization": f"Bearer {access}"})
        user = self.signed_in.post("/api/auth/embed-token").json
        self.person = Api({"Authorization": f"Bearer {user['token']}", "X-User-Id": user["userId"]})

    def refresh(self) -> Answer:
        return Api().post("/api/auth/refresh", {"refreshToken": self.refresh_token})

    def results(self) -> list[tuple[int, str | None]]:
        """Status and error of requests with the access token, the refresh token and the user token."""
        responses = [self.signed_in.get("/api/auth/me"), self.refresh(), self.person.get("/v1/agent-tokens")]
        return [(response.status, response.json.get("error")) for response in responses]


VALID = [(200, None)] * 3
REVOKED = [(401, "token_revoked")] * 3


def by_create_person(person: Account) -> None:
    call_command("create_person", person.handle, "--password", ANOTHER, stdout=io.StringIO())


def by_djangos_command(person: Account) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(changepassword.Command, "_get_pass", lambda *_args, **_kwargs: ANOTHER)
        call_command("changepassword", person.handle, stdout=io.StringIO())


def by_set_password(person: Account) -> None:
    account = Account.objects.get(pk=person.pk)
    account.set_password(ANOTHER)
    account.save()


@pytest.mark.parametrize("change", [by_create_person, by_djangos_command, by_set_password])
def test_a_new_password_revokes_every_token(ada: Account, change: Callable[[Account], None]) -> None:
    before, other = Session(), PersonFactory(password=PASSWORD)
    others = Session(other.handle)
    assert before.results() == VALID
    change(ada)
    assert before.results() == REVOKED
    assert Session(password=ANOTHER).results() == VALID
    assert others.results() == VALID


def test_setting_the_same_password_revokes_no_token(ada: Account) -> None:
    before = Session()
    ensure_person(handle="ada_l", name="Ada", password=PASSWORD, is_staff=False, is_superuser=False)
    assert before.results() == VALID


def test_a_stronger_hash_of_the_old_password_replaces_no_new_one(settings: Any) -> None:
    person = PersonFactory(password="correct horse battery")
    settings.PASSWORD_HASHERS = [STRONGER, *settings.PASSWORD_HASHERS]
    changed = Account.objects.get(pk=person.pk)
    changed.set_password("new horse battery")
    changed.save()
    assert person.check_password("correct horse battery")
    assert Account.objects.get(pk=person.pk).check_password("new horse battery")


def test_a_stronger_hash_of_the_same_password_revokes_no_token(ada: Account, settings: Any) -> None:
    before = Session()
    settings.PASSWORD_HASHERS = [STRONGER, *settings.PASSWORD_HASHERS]
    after = Session()
    assert Account.objects.get().password.startswith("pbkdf2_sha256")
    assert before.results() == after.results() == VALID


def test_logout_all_revokes_every_token_including_the_calling_one(ada: Account) -> None:
    one, other, bystander = Session(), Session(), Session(PersonFactory(password=PASSWORD).handle)
    response = one.signed_in.post("/api/auth/logout-all")
    assert (response.status, response.json) == (200, {"success": True})
    assert one.results() == other.results() == REVOKED
    assert bystander.results() == VALID
    assert one.signed_in.post("/api/auth/logout-all").error == "token_revoked"


def test_logout_all_revokes_earlier_tokens_only_within_one_second(ada: Account) -> None:
    """Tokens carry the value of `sessions_valid_from`, so the resolution of `iat` does not matter."""
    for _ in range(3):
        before = Session()
        assert before.signed_in.post("/api/auth/logout-all").status == 200
        after = Session()
        assert (before.results(), after.results()) == (REVOKED, VALID)


def test_a_token_of_an_earlier_release_is_checked_by_its_iat_claim(ada: Account) -> None:
    Session().signed_in.post("/api/auth/logout-all")
    changed = Account.objects.get().sessions_valid_from
    assert changed is not None

    def status(iat: Any) -> int:
        token = signed(claims(ada, iat=iat))
        headers = {"Authorization": f"Bearer {token}", "X-User-Id": str(ada.pk)}
        return Api().get("/v1/agent-tokens", headers=headers).status

    moments = [int(changed.timestamp()) + seconds for seconds in (-3600, 0, 1)]
    assert [status(iat) for iat in moments] == [401, 401, 200]
    assert [status(iat) for iat in (None, True, "9" * 10)] == [401] * 3


def test_logout_all_revokes_a_token_from_a_host_with_a_clock_ahead(ada: Account) -> None:
    before = Session()
    later = int((datetime.now(UTC) + timedelta(seconds=8)).timestamp())
    changed = pyjwt.decode(before.refresh_token, options={"verify_signature": False}) | {"iat": later}
    before.refresh_token = signed(changed)
    assert before.refresh().status == 200
    before.signed_in.post("/api/auth/logout-all")
    assert before.refresh().error == "token_revoked"


@pytest.mark.django_db(transaction=True)
def test_logout_all_revokes_tokens_of_concurrent_refreshes() -> None:
    PersonFactory(handle="ada_l", password=PASSWORD)
    before = Session()

    def call(index: int) -> Answer:
        return before.signed_in.post("/api/auth/logout-all") if index == 3 else before.refresh()

    responses = race(8, call)
    refreshed = [response.json["accessToken"] for response in responses if "accessToken" in response.json]
    tried = [Api({"Authorization": f"Bearer {token}"}).get("/api/auth/me").error for token in refreshed]
    assert set(tried) <= {"token_revoked"}
    assert before.results() == REVOKED


def test_an_access_token_expires_with_its_refresh_token(ada: Account) -> None:
    refresh = pyjwt.decode(Session().refresh_token, options={"verify_signature": False})
    ends = int((datetime.now(UTC) + timedelta(minutes=2)).timestamp())
    response = Api().post("/api/auth/refresh", {"refreshToken": signed(refresh | {"exp": ends})})
    assert datetime.fromisoformat(response.json["expiresAt"]).timestamp() == ends


def test_logout_all_and_a_new_password_end_admin_sessions() -> None:
    boss = SuperAdminFactory(password=PASSWORD)
    clients = [Client(), Client()]
    for client in clients:
        client.post("/account/sign-in/", {"login": boss.handle, "password": PASSWORD})
        assert client.get("/admin/").status_code == 200
    Session(boss.handle).signed_in.post("/api/auth/logout-all")
    assert [client.get("/admin/").status_code for client in clients] == [302, 302]
    clients[0].post("/account/sign-in/", {"login": boss.handle, "password": PASSWORD})
    assert clients[0].get("/admin/").status_code == 200
    by_set_password(boss)
    assert clients[0].get("/admin/").status_code == 302


def test_the_revocation_check_needs_no_extra_query(ada: Account, django_assert_num_queries: Any) -> None:
    session = Session()
    with django_assert_num_queries(1):
        assert session.signed_in.get("/api/auth/me").status == 200


@pytest.mark.parametrize("seconds", [-9, 9])
def test_clock_skew_of_ten_seconds_is_accepted(ada: Account, seconds: int) -> None:
    now = datetime.now(UTC)
    issued, ends = (now + timedelta(seconds=9), now + timedelta(hours=1)) if seconds > 0 else (now, now)
    ends += timedelta(seconds=min(seconds, 0))
    token = signed(claims(ada, iat=int(issued.timestamp()), exp=int(ends.timestamp()) + 1))
    headers = {"Authorization": f"Bearer {token}", "X-User-Id": str(ada.pk)}
    assert Api().get("/v1/agent-tokens", headers=headers).status == 200


def test_clock_skew_over_ten_seconds_is_refused(ada: Account) -> None:
    now = int(datetime.now(UTC).timestamp())
    for change in ({"iat": now + 60}, {"exp": now - 60}):
        headers = {"Authorization": f"Bearer {signed(claims(ada, **change))}", "X-User-Id": str(ada.pk)}
        assert Api().get("/v1/agent-tokens", headers=headers).status == 401


def test_login_refresh_and_logout_share_a_soft_throttle(ada: Account, settings: Any) -> None:
    session = Session()
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"session": (4, 60)}
    tried = [session.refresh().status for _ in range(2)]
    tried += [Api().post("/api/auth/logout", {"refreshToken": "x"}).status for _ in range(2)]
    assert tried == [200, 200, 401, 429]
    assert session.refresh().error == "rate_limited"
    elsewhere = Api().post("/api/auth/refresh", {"refreshToken": session.refresh_token}, address="10.0.0.9")
    assert elsewhere.status == 200
