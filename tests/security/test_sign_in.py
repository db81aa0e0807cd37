"""Guessing: an unknown person, a wrong password and a closed account cost the same and answer the same."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.test import Client

from messaging.models import Account
from tests.agents.factories import agent_with_token
from tests.api import Answer, Api
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough passphrase"


ROUNDS = 1_000


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[int]:
    """How many rounds each hash took, of the hasher that production uses (with more of them)."""
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


def closed_account() -> str:
    person = PersonFactory(password=PASSWORD)
    Account.objects.filter(pk=person.pk).update(is_active=False)
    return person.handle


def test_every_refused_sign_in_is_alike(hashed: list[int]) -> None:
    tries = {
        "wrong password": (PersonFactory(password=PASSWORD).handle, "another long passphrase"),
        "unknown": ("nobody_at_all", PASSWORD),
        "no handle": ("NOT a handle", PASSWORD),
        "closed account": (closed_account(), PASSWORD),
        "without a password": (PersonFactory().handle, PASSWORD),
        "an agent": (agent_with_token().agent.account.handle, PASSWORD),
    }
    seen = {}
    for name, (handle, password) in tries.items():
        hashed.clear()
        answer = log_in(handle, password)
        seen[name] = (answer.status, answer.body, answer.headers["WWW-Authenticate"], tuple(hashed))
    assert len(set(seen.values())) == 1, seen
    [(status, body, _, rounds)] = set(seen.values())
    assert (status, body) == (401, b'{"error":"invalid_credentials"}')
    assert rounds == (ROUNDS,)


def test_the_admin_hashes_for_everybody_too(hashed: list[int]) -> None:
    boss = SuperAdminFactory(password=PASSWORD)
    seen = set()
    for handle in (boss.handle, "nobody_at_all"):
        hashed.clear()
        answer = Client().post("/admin/login/", {"username": handle, "password": "another long passphrase"})
        assert answer.status_code == 200
        assert "_auth_user_id" not in answer.wsgi_request.session
        seen.add(tuple(hashed))
    assert seen == {(ROUNDS,)}


def test_a_session_of_the_admin_is_no_credential_for_the_api() -> None:
    client = Client()
    client.force_login(SuperAdminFactory())
    for path in ("/api/auth/me", "/v1/agent-tokens", "/v1/agent-tokens/requests?all=1"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["error"]) == (401, "not_authenticated")
