"""Sign-in: register, login, refresh, logout, me, and creating a user token."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kernel.api.jwt import AccessToken, RefreshToken
from messaging.accounts.sessions import start_session
from messaging.models import Account, HandleClaim
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.config_api.test_authentication import JSON, NAMES, claims, signed
from tests.factories import AgentAccountFactory, PersonFactory

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
ADA = {"handle": "ada_l", "name": "Ada Lovelace", "password": PASSWORD}


@pytest.fixture
def ada() -> Account:
    return PersonFactory(handle="ada_l", name="Ada Lovelace", password=PASSWORD)


@pytest.fixture
def unthrottled(settings: Any) -> None:
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"sign_in": (10**9, 60)}
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"register": (10**9, 60)}


def auth(operation: str, body: Any, **options: Any) -> Answer:
    return Api().post(f"/api/auth/{operation}", body, **options)


def login(handle: str = "ada_l", password: str = PASSWORD, **options: Any) -> Answer:
    return auth("login", {"handle": handle, "password": password}, **options)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_registered_person_signs_in_and_posts_with_a_user_token() -> None:
    registered = auth("register", ADA)
    assert registered.status == 201
    user = {"handle": "ada_l", "name": "Ada Lovelace", "kind": "human"}
    assert registered.json["user"] == user | {"id": registered.json["user"]["id"]}
    session = login().json
    assert session["user"] == registered.json["user"]
    assert Api().get("/api/auth/me", headers=bearer(session["accessToken"])).json == session["user"]
    token = Api(bearer(session["accessToken"])).post("/api/auth/embed-token").json
    assert token["userId"] == session["user"]["id"]
    person = Api(bearer(token["token"]) | {"X-User-Id": token["userId"]})
    page = person.post("/v1/presence/normalize-url", {"url": "https://a.example/"}).json["pageId"]
    assert person.post("/api/messages", {"pageId": page, "content": "Hello"}).json["author"] == session["user"]


def test_an_access_token_is_valid_for_15_minutes_a_refresh_token_for_14_days(ada: Account) -> None:
    session = login().json
    assert session["expiresAt"].endswith("Z")
    ends = datetime.fromisoformat(session["expiresAt"])
    access = AccessToken(session["accessToken"].encode())
    assert access["exp"] - access["iat"] == 15 * 60
    assert access["exp"] == int(ends.timestamp())
    refresh = RefreshToken(session["refreshToken"].encode())
    assert refresh["exp"] - refresh["iat"] == 14 * 24 * 3600


INVALID: list[dict[str, Any]] = [
    *({"handle": value} for value in ("ab", "a" * 31, "Ada", "a-b-c", "adä", "abc\n", "", 5, None)),
    *({"name": value} for value in ("", "  ", "x" * 61, 5, None, "a\x00b")),
    *({"password": value} for value in ("", "seven77", "password", "x" * 257, 12345678, None)),
]


@pytest.mark.usefixtures("unthrottled")
def test_an_invalid_registration_is_400_and_creates_no_account() -> None:
    without = [(name, {each: value for each, value in ADA.items() if each != name}) for name in ADA]
    for field, body in [*((next(iter(wrong)), ADA | wrong) for wrong in INVALID), *without]:
        response = auth("register", body)
        assert (response.status, response.error) == (400, "invalid_input"), body
        # The parser refuses NUL before there are fields.
        assert response.json["field"] in {field, "body"}, body
    assert not Account.objects.exists()
    assert not HandleClaim.objects.exists()


def test_registration_grants_no_rights() -> None:
    auth("register", ADA | {"is_staff": True, "isSuperuser": True, "is_superuser": True, "kind": "agent"})
    account = Account.objects.get()
    assert (account.is_staff, account.is_superuser, account.kind) == (False, False, "human")
    assert account.password.count("$") >= 2, "hashed"
    assert PASSWORD not in account.password


def test_a_taken_handle_is_409(ada: Account) -> None:
    agent = AgentAccountFactory(handle="an_agent")
    HandleClaim.objects.get_or_create(handle=agent.handle)
    for handle in ("ada_l", "an_agent", agent_with_token().account.handle):
        response = auth("register", ADA | {"handle": handle})
        assert (response.status, response.error) == (409, "handle_taken")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("unthrottled")
def test_of_concurrent_registrations_of_one_handle_one_succeeds() -> None:
    responses = race(10, lambda _index: auth("register", ADA))
    assert sorted(response.status for response in responses) == [201] + [409] * 9
    assert Account.objects.count() == 1


def test_closed_registration_is_403(settings: Any, ada: Account) -> None:
    settings.REGISTRATION_OPEN = False
    response = auth("register", ADA | {"handle": "new_person"})
    assert (response.status, response.error) == (403, "registration_closed")
    assert login().status == 200, "existing accounts may sign in"


@pytest.mark.usefixtures("unthrottled", "ada")
def test_wrong_password_unknown_handle_and_inactive_account_have_equal_responses() -> None:
    PersonFactory(handle="no_password")
    Account.objects.filter(pk=PersonFactory(handle="inactive", password=PASSWORD).pk).update(is_active=False)
    AgentAccountFactory(handle="an_agent")
    tried = [
        login(password="wrong horse battery"),
        login(password=PASSWORD + " "),
        login("nobody_here"),
        login("ADA_L"),
        login("no_password"),
        login("inactive"),
        login("an_agent"),
        login("an_agent", "!"),
    ]
    assert {(response.status, response.error) for response in tried} == {(401, "invalid_credentials")}
    assert {response.headers["WWW-Authenticate"] for response in tried} == {'Bearer realm="community-messaging"'}


def test_a_login_without_handle_or_password_is_400() -> None:
    for body in ({}, {"handle": "ada_l"}, {"handle": 5, "password": "x"}, {"handle": "a" * 31, "password": "x"}):
        assert auth("login", body).error == "invalid_input", body


@pytest.mark.usefixtures("ada")
def test_logins_are_throttled_to_ten_a_minute_per_address() -> None:
    """Known and unknown handles share the limit, and the 429 has a Retry-After header."""
    tried = [login(handle, "wrong horse") for handle in ("ada_l", "nobody_here") for _ in range(5)]
    assert {response.status for response in tried} == {401}
    refused = [login(), login("nobody_here")]
    assert {(response.status, response.error) for response in refused} == {(429, "rate_limited")}
    assert all(1 <= int(response.headers["Retry-After"]) <= 60 for response in refused)
    assert login(address="10.0.0.7").status == 200
    opened = [auth("register", ADA | {"handle": f"person_{n}"}).status for n in range(11)]
    assert opened == [201] * 10 + [429], "registration has a separate throttle"


def test_forwarded_addresses_count_only_from_trusted_proxies(settings: Any) -> None:
    def status(forwarded: str) -> int:
        return login("nobody_here", headers={"X-Forwarded-For": forwarded}).status

    assert [status(f"10.0.0.{n}") for n in range(11)] == [401] * 10 + [429]
    settings.TRUSTED_PROXIES = ["127.0.0.0/8"]
    assert status("10.0.0.1") == 401, "a proxy in TRUSTED_PROXIES is trusted"
    assert status("10.9.9.9, 127.0.0.2") == 401
    assert status("nonsense") == 429, "counts as the address of the proxy"


def test_a_refresh_token_creates_new_access_tokens(ada: Account) -> None:
    session = start_session(account=ada)
    for _ in range(2):
        response = auth("refresh", {"refreshToken": session.refresh})
        assert response.status == 200
        assert Api().get("/api/auth/me", headers=bearer(response.json["accessToken"])).json["handle"] == "ada_l"
    assert response.json.keys() == {"accessToken", "expiresAt"}


def test_logout_ends_only_its_session(ada: Account) -> None:
    one, other = start_session(account=ada), start_session(account=ada)
    for _ in range(2):
        assert auth("logout", {"refreshToken": one.refresh}).json == {"success": True}
    response = auth("refresh", {"refreshToken": one.refresh})
    assert (response.status, response.error) == (401, "token_revoked")
    assert auth("refresh", {"refreshToken": other.refresh}).status == 200


def test_an_expired_refresh_token_is_token_expired_and_may_log_out(ada: Account) -> None:
    old = RefreshToken.for_user(ada)
    old.set_exp(from_time=datetime.now(UTC) - timedelta(days=15), lifetime=timedelta(days=14))
    response = auth("refresh", {"refreshToken": str(old)})
    assert (response.status, response.error) == (401, "token_expired")
    assert auth("logout", {"refreshToken": str(old)}).status == 200


def test_only_a_refresh_token_is_accepted(ada: Account) -> None:
    session, agent = start_session(account=ada), agent_with_token().value
    for operation in ("refresh", "logout"):
        for token in (session.access, agent, "x", "a.b.c", session.refresh + "x", "é", "[" * 4000):
            response = auth(operation, {"refreshToken": token})
            assert (response.status, response.error) == (401, "invalid_token"), token
        for body in ({}, *({"refreshToken": value} for value in (None, 5, "", "x" * 4097))):
            assert auth(operation, body).error == "invalid_input", body


@hypothesis_settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.dictionaries(NAMES, JSON, min_size=1))
def test_any_claims_of_a_signed_refresh_token_are_no_5xx(ada: Account, changes: dict[str, Any]) -> None:
    token = signed({**claims(ada, token_type="refresh"), **changes})
    with override_settings(SOFT_THROTTLES=settings.SOFT_THROTTLES | {"session": (10**6, 60)}):
        refreshed, left = (auth(operation, {"refreshToken": token}).status for operation in ("refresh", "logout"))
    assert refreshed == 401 if "jti" in changes else refreshed in {200, 401}
    assert left in {200, 401}, "an expired one may log out"


def test_the_refresh_token_of_an_inactive_account_is_refused(ada: Account) -> None:
    session, other = start_session(account=ada), start_session(account=PersonFactory())
    Account.objects.filter(pk=ada.pk).update(is_active=False)
    response = auth("refresh", {"refreshToken": session.refresh})
    assert (response.status, response.error) == (401, "invalid_token")
    assert auth("refresh", {"refreshToken": other.refresh}).status == 200


def test_login_responses_have_no_cors_header(ada: Account) -> None:
    response = login(headers={"Origin": "https://elsewhere.example"})
    assert "Access-Control-Allow-Origin" not in response.headers


def test_refresh_and_logout_ignore_the_authorization_header(ada: Account) -> None:
    session = start_session(account=ada)
    stale = Api({"Authorization": "Bearer expired.or.nonsense", "X-User-Id": "nobody"})
    assert stale.post("/api/auth/refresh", {"refreshToken": session.refresh}).status == 200
    assert stale.post("/api/auth/logout", {"refreshToken": session.refresh}).status == 200
