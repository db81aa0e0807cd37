"""The kinds of credential are not interchangeable, and every invalid credential is a 401."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import jwt as pyjwt
import pytest
from django.conf import settings as django_settings
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from rest_framework_simplejwt.tokens import AccessToken

from kernel.api.jwt import UserToken, issue_user_token
from messaging.accounts.sessions import start_session
from messaging.models import Account
from tests.agents.factories import agent_with_token
from tests.api import Answer, Api
from tests.factories import AgentAccountFactory, PersonFactory

pytestmark = pytest.mark.django_db
# One operation for each kind of credential, and a public one.
FOR_PERSON, FOR_SIGNED_IN, FOR_AGENT, FOR_ANYBODY = (
    "/v1/agent-tokens",
    "/api/auth/me",
    "/v1/agent/self",
    "/v1/smart-tags",
)


@pytest.fixture
def person() -> Account:
    return PersonFactory()


def claims(account: Account, **changes: Any) -> dict[str, Any]:
    """The claims of a valid user token; a change to None removes a claim."""
    now = datetime.now(UTC)
    payload = {
        "token_type": "embed",
        "sub": str(account.pk),
        "jti": uuid4().hex,
        "iat": int(now.timestamp()),
        "exp": int((now + timedelta(hours=1)).timestamp()),
        "iss": django_settings.SIMPLE_JWT["ISSUER"],
        "aud": django_settings.SIMPLE_JWT["AUDIENCE"],
    } | changes
    return {name: value for name, value in payload.items() if value is not None}


def part(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(payload: Any, header: Any = None, key: str | None = None) -> str:
    """A JWT of any header and payload, with a valid HMAC-SHA256."""
    text = f"{part({'alg': 'HS256', 'typ': 'JWT'} if header is None else header)}.{part(payload)}"
    secret = (key or django_settings.SIMPLE_JWT["SIGNING_KEY"]).encode()
    return f"{text}.{part(hmac.digest(secret, text.encode(), hashlib.sha256))}"


def call(token: str, user_id: str | None, path: str = FOR_PERSON) -> Answer:
    headers = {"Authorization": f"Bearer {token}"} | ({} if user_id is None else {"X-User-Id": user_id})
    return Api().get(path, headers=headers)


def refusal(response: Answer) -> tuple[int, str]:
    assert response.headers["WWW-Authenticate"].startswith('Bearer realm="community-messaging"')
    return response.status, response.error


def test_a_user_token_with_its_user_id_is_accepted(person: Account) -> None:
    token = str(issue_user_token(person))
    assert call(token, str(person.pk)).status == 200
    assert call(token, str(person.pk).upper()).status == 200
    assert call(signed(claims(person)), str(person.pk)).status == 200, "`signed` returns valid tokens"


def test_a_user_token_expires_after_twelve_hours(person: Account) -> None:
    token = issue_user_token(person)
    assert token["exp"] - token["iat"] == 12 * 3600
    assert token["token_type"] == "embed"
    assert token["sub"] == str(person.pk)


def test_a_user_token_without_user_id_is_401(person: Account) -> None:
    token = str(issue_user_token(person))
    for user_id in (None, ""):
        assert refusal(call(token, user_id)) == (401, "not_authenticated")


def test_a_user_token_with_another_user_id_is_403(person: Account) -> None:
    token = str(issue_user_token(person))
    for user_id in (str(PersonFactory().pk), "x", "*", f"{person.pk} ", f"{person.pk},{person.pk}", "é"):
        response = call(token, user_id)
        if user_id.strip() != str(person.pk):
            assert (response.status, response.error) == (403, "user_mismatch"), user_id


def test_no_credential_is_401() -> None:
    for path in (FOR_PERSON, FOR_SIGNED_IN, FOR_AGENT):
        assert refusal(Api().get(path)) == (401, "not_authenticated")


def test_any_other_authorization_is_401_everywhere() -> None:
    for header in ("", "Bearer", "Bearer ", "Basic YTpi", "bearer", "Token x", "Bearer\x00x", "é", "x" * 9000):
        for path in (FOR_PERSON, FOR_SIGNED_IN, FOR_AGENT, FOR_ANYBODY):
            response = Api().get(path, headers={"Authorization": header})
            assert refusal(response) == (401, "invalid_token"), (header, path)


def test_the_scheme_is_case_insensitive(person: Account) -> None:
    token = str(issue_user_token(person))
    headers = {"Authorization": f"bEaReR  {token} ", "X-User-Id": str(person.pk)}
    assert Api().get(FOR_PERSON, headers=headers).status == 200


def test_credential_kinds_are_not_interchangeable(person: Account) -> None:
    """Each kind for each operation: only its own and the public one accept it."""
    session = start_session(account=person)
    user_id = {"X-User-Id": str(person.pk)}
    tokens = {
        "agent": agent_with_token().value,
        "user": str(issue_user_token(person)),
        "access": session.access,
        "refresh": session.refresh,
    }
    wrong, agent = (401, "invalid_token"), (403, "agent_route_not_allowed")
    expected = {
        ("agent", FOR_PERSON): agent,
        ("agent", FOR_SIGNED_IN): agent,
        ("user", FOR_SIGNED_IN): wrong,
        ("user", FOR_AGENT): wrong,
        ("access", FOR_PERSON): wrong,
        ("access", FOR_AGENT): wrong,
        ("refresh", FOR_PERSON): wrong,
        ("refresh", FOR_SIGNED_IN): wrong,
        ("refresh", FOR_AGENT): wrong,
        ("refresh", FOR_ANYBODY): wrong,
    }
    for kind, token in tokens.items():
        for path in (FOR_PERSON, FOR_SIGNED_IN, FOR_AGENT, FOR_ANYBODY):
            response = Api().get(path, headers={"Authorization": f"Bearer {token}", **user_id})
            outcome = (response.status, response.json.get("error"))
            assert outcome == expected.get((kind, path), (200, None)), f"{kind} at {path}"


def test_the_user_id_of_an_agent_is_ignored() -> None:
    agent = agent_with_token()
    for headers in ({}, {"X-User-Id": str(uuid4())}):
        assert agent.api.get(FOR_AGENT, headers=headers).status == 200


def test_an_inactive_person_is_401(person: Account) -> None:
    token, access, other = str(issue_user_token(person)), start_session(account=person).access, PersonFactory()
    Account.objects.filter(pk=person.pk).update(is_active=False)
    assert is_refused(token, person)
    assert refusal(call(access, None, FOR_SIGNED_IN)) == (401, "invalid_token")
    assert call(str(issue_user_token(other)), str(other.pk)).status == 200


def test_a_deleted_person_is_401() -> None:
    unknown = str(uuid4())
    assert refusal(call(signed(claims(Account(pk=unknown))), unknown)) == (401, "invalid_token")


def test_a_jwt_of_an_agent_is_401() -> None:
    agent = AgentAccountFactory()
    assert is_refused(signed(claims(agent)), agent)


def test_a_token_of_ended_sessions_is_token_revoked(person: Account) -> None:
    for token in (UserToken.for_user(person), AccessToken.for_user(person)):
        token.set_exp(from_time=datetime.now(UTC) - timedelta(days=2), lifetime=timedelta(days=1))
        assert refusal(call(str(token), str(person.pk))) == (401, "token_expired")
        assert refusal(call(str(token), str(person.pk), FOR_ANYBODY)) == (401, "token_expired")


ODD_CLAIMS: list[dict[str, Any]] = [
    *({"sub": value} for value in (None, "", "x", 5, [], {}, True, "\x00", "٣", "a" * 36, "None", 1e308)),
    *({"exp": value} for value in (None, "", "x", [], {}, True, 0, -1, 1e300, 10**30, "9" * 400, -(10**30), 1.5)),
    *({"token_type": value} for value in (None, "", "refresh", "Embed", "embed ", 5, ["embed"], {}, True)),
    *({"iss": value} for value in (None, "", "another-service", 5, [], {}, ["community-messaging"])),
    *({"aud": value} for value in (None, "", "another-service", 5, [], {}, [5], ["another-service"])),
    *(
        {"jti": value}
        for value in (None, "", "\x00", "a\x00" * 16, "a" * 400, "\ud800" * 32, "A" * 32, 5, [], {}, True)
    ),
    *({"jti": value} for value in ("A" * 32, "a" * 31, "a" * 32 + "\n", ["a" * 32], 1e308, "é" * 32)),
    *({"nbf": value} for value in ("x", [], {}, 10**12, 10**30, 1e300)),
    *({"iat": value} for value in ("x", [], {}, 10**12, 1e300)),
]


def is_refused(token: str, person: Account, path: str = FOR_PERSON) -> bool:
    return refusal(call(token, str(person.pk), path)) == (401, "invalid_token")


def test_invalid_claims_with_a_valid_signature_are_401(person: Account) -> None:
    for change in ODD_CLAIMS:
        token = signed(claims(person, **change))
        statuses = {refusal(call(token, str(person.pk), path))[0] for path in (FOR_PERSON, FOR_ANYBODY)}
        assert statuses == {401}, change


def test_invalid_claims_of_a_refresh_token_are_401(person: Account, settings: Any) -> None:
    """Only `iat` and `nbf` may be odd: what the token allows does not depend on them."""
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"session": (10**6, 60)}

    def statuses(**changes: Any) -> list[int]:
        token = signed(claims(person, **{"token_type": "refresh", **changes}))
        return [Api().post(f"/api/auth/{name}", {"refreshToken": token}).status for name in ("refresh", "logout")]

    assert statuses() == [200, 200], "the signed token is valid without changes"
    for change in ODD_CLAIMS:
        if change == {"token_type": "refresh"}:
            continue
        refreshed, left = statuses(**change)
        is_checked = not {"iat", "nbf"} & change.keys()
        assert refreshed == 401 if is_checked else refreshed in {200, 401}, change
        # Who leaves needs no account, and no time.
        assert left == 401 if is_checked and not {"sub", "exp"} & change.keys() else left in {200, 401}, change


def test_invalid_payloads_with_a_valid_signature_are_401(person: Account) -> None:
    payloads = ([], "x", 5, None, True, b"", b"\xff", b"{", b"[" * 2000, b'{"a":' * 600)
    assert [payload for payload in payloads if not is_refused(signed(payload), person)] == []


HEADERS: list[Any] = [
    *({"alg": alg} for alg in ("none", "None", "HS384", "HS512", "RS256", ["HS256"], {}, None)),
    *({"alg": "HS256"} | more for more in ({"crit": ["exp"]}, {"b64": False}, {"kid": {}})),
    *({}, {"typ": "JWT"}, [], "HS256", 5, b"null", b"\xff", b"{", b"[" * 2500, b'{"a":' * 500),
]


def test_invalid_jwt_headers_are_401(person: Account) -> None:
    assert [header for header in HEADERS if not is_refused(signed(claims(person), header=header), person)] == []


def test_an_unsigned_token_is_401(person: Account) -> None:
    unsigned = pyjwt.encode(claims(person), key=None, algorithm="none")
    good = signed(claims(person))
    for token in (unsigned, good.rpartition(".")[0] + ".", good.rpartition(".")[0], good + "x", good[:-4]):
        assert is_refused(token, person), token


def test_a_token_signed_with_another_key_is_401(person: Account) -> None:
    for key in ("x" * 32, django_settings.SECRET_KEY, django_settings.SIMPLE_JWT["SIGNING_KEY"][:-1]):
        assert is_refused(signed(claims(person), key=key), person), key


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)
NAMES = st.sampled_from(["sub", "exp", "iat", "nbf", "iss", "aud", "jti", "token_type"])
effort = hypothesis_settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@effort
@given(changes=st.dictionaries(NAMES, JSON, min_size=1))
def test_no_signed_claims_cause_a_5xx(person: Account, changes: dict[str, Any]) -> None:
    payload = {**claims(person), **changes}
    assert call(signed(payload), str(person.pk)).status in {200, 401, 403}


@effort
@given(token=st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF), max_size=60))
def test_any_text_as_a_token_is_401(token: str) -> None:
    for kind in (token, "cag_" + token, f"{token}.{token}.{token}"):
        assert call(kind, None).status == 401
