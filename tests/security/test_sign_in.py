"""Refused sign-ins: unknown handle, wrong password and closed account cost the same and return the same response."""

from __future__ import annotations

import time
from bisect import bisect_left
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from config import env
from kernel.api import throttling
from messaging.models import Account
from tests.agents.factories import agent_with_token
from tests.api import Answer, Api
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough passphrase"


ROUNDS, SAMPLES = 1_000, 200


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[int]:
    """The iterations of each hash by the hasher of production (there with more of them)."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    counted: list[int] = []
    encode = PBKDF2PasswordHasher.encode

    def counting(self: PBKDF2PasswordHasher, password: str, salt: str, iterations: int | None = None) -> str:
        counted.append(iterations or self.iterations)
        return encode(self, password, salt, iterations)

    monkeypatch.setattr(PBKDF2PasswordHasher, "iterations", ROUNDS)
    monkeypatch.setattr(PBKDF2PasswordHasher, "encode", counting)
    return counted


def log_in(handle: str, password: str) -> Answer:
    return Api().post("/api/auth/login", {"handle": handle, "password": password})


def same_body(answer: Answer) -> str:
    """The body but for the id, which differs for every response."""
    return answer.body.decode().replace(answer.headers["X-Request-ID"], "")


def closed_account() -> str:
    person = PersonFactory(password=PASSWORD)
    Account.objects.filter(pk=person.pk).update(is_active=False)
    return person.handle


def test_refused_sign_ins_are_indistinguishable(hashed: list[int]) -> None:
    tries = {
        "wrong password": (PersonFactory(password=PASSWORD).handle, "another long passphrase"),
        "unknown": ("unknown_handle", PASSWORD),
        "no handle": ("NOT a handle", PASSWORD),
        "closed account": (closed_account(), PASSWORD),
        "without a password": (PersonFactory().handle, PASSWORD),
        "an agent": (agent_with_token().agent.account.handle, PASSWORD),
    }
    outcomes = {}
    for name, (handle, password) in tries.items():
        hashed.clear()
        answer = log_in(handle, password)
        outcomes[name] = (answer.status, same_body(answer), answer.headers["WWW-Authenticate"], tuple(hashed))
    assert len(set(outcomes.values())) == 1, outcomes
    [(status, body, _, rounds)] = set(outcomes.values())
    assert (status, "invalid_credentials" in body) == (401, True)
    assert rounds == (ROUNDS,)


def test_sign_in_page_hashes_for_unknown_people_too(hashed: list[int]) -> None:
    boss = SuperAdminFactory(password=PASSWORD)
    outcomes = set()
    for login in (boss.handle, "unknown_handle", "unknown@example.com"):
        hashed.clear()
        answer = Client().post("/account/sign-in/", {"login": login, "password": "another long passphrase"})
        assert answer.status_code == 200
        assert "_auth_user_id" not in answer.wsgi_request.session
        outcomes.add(tuple(hashed))
    assert outcomes == {(ROUNDS,)}


def test_admin_session_is_not_an_api_credential() -> None:
    client = Client()
    client.force_login(SuperAdminFactory())
    for path in ("/api/auth/me", "/v1/agent-tokens", "/v1/agent-tokens/requests?all=1"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["error"]) == (401, "not_authenticated")


def test_ipv6_clients_are_throttled_by_network(settings: Any) -> None:
    """A client with one address of a /64 has 2^64 of them, so the throttle counts the network."""
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"sign_in": (3, 3600)}
    answers = [
        Api().post("/api/auth/login", {"handle": "unknown", "password": PASSWORD}, address=address).status
        for address in ("2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3", "2001:db8::4", "2001:db8:0:1::4", "::1")
    ]
    assert answers == [401, 401, 401, 429, 401, 401]


def test_ipv4_mapped_address_is_throttled_as_ipv4(settings: Any) -> None:
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"sign_in": (1, 3600)}
    answers = [
        Api().post("/api/auth/login", {"handle": "unknown", "password": PASSWORD}, address=address).status
        for address in ("::ffff:192.0.2.1", "::ffff:192.0.2.2", "192.0.2.1", "unix:", "")
    ]
    assert answers == [401, 401, 429, 401, 401]


@pytest.mark.parametrize("value", ["proxy.internal", "10.0.0.0/33", "10.0.0.1,nonsense"])
def test_invalid_trusted_proxy_is_refused_at_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("TRUSTED_PROXIES", value)
    with pytest.raises(ImproperlyConfigured, match="TRUSTED_PROXIES"):
        env.networks("TRUSTED_PROXIES")


def test_throttle_remembers_a_client_among_many(settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"session": (1, 3600)}
    for number in range(2_000):
        throttling.note("session", f"198.51.{number // 250}.{number % 250}")
        if number == 0:
            throttling.note("session", "192.0.2.1")
    assert Api().post("/api/auth/login", {"handle": "unknown", "password": PASSWORD}, address="192.0.2.1").status == 429


FORMS = {"/account/password/reset/": "address", "/account/sign-in/": "login"}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", FORMS)
def test_durations_do_not_reveal_whether_an_address_is_that_of_a_person(
    path: str, hashed: list[int], monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """200 forms with an address of a person take as long as 200 with one of nobody, in turns.

    The share of pairs in which the known one took longer is a half but for chance, whose standard deviation is 0.03
    (Mann-Whitney): the bound is five of them away.
    """
    # A hundredth of those in production, whose hashes vary by more.
    monkeypatch.setattr(PBKDF2PasswordHasher, "iterations", 10 * ROUNDS)
    rates = dict.fromkeys(("sign_in", "sign_in_account", "password_reset"), (10**6, 60))
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | rates
    EmailAddress.objects.create(
        user=PersonFactory(password=PASSWORD), email="ada@example.com", verified=True, primary=True
    )

    def seconds(address: str) -> float:
        client, form = Client(), {FORMS[path]: address, "password": "another long passphrase"}
        began = time.perf_counter()
        assert client.post(path, form).status_code == 200
        return time.perf_counter() - began

    taken: dict[str, list[float]] = {"ada@example.com": [], "eve@example.com": []}
    for number in range(SAMPLES + 10):
        for address in sorted(taken, reverse=bool(number % 2)):
            taken[address].append(seconds(address))
    known, unknown = (each[10:] for each in taken.values())
    longer = sum(bisect_left(sorted(unknown), each) for each in known) / SAMPLES**2
    assert 0.35 < longer < 0.65
