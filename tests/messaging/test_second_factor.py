"""A second factor at the sign-in of the API: the password alone does not bypass it."""

from __future__ import annotations

import time
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.test import Client
from django.utils import timezone

from kernel.api import jwt
from kernel.second_factor import needs_second_factor
from messaging.accounts import second_factor
from messaging.models import Account
from tests.account_area import second_factors
from tests.account_area.second_factors import add_app, code_of, recovery_codes_of
from tests.agents.factories import RequestFactory
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.commands.running import run_json
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory
from tests.panel_sessions import panel_headers, panel_secret

PASSWORD = "a long enough passphrase"
pytestmark = pytest.mark.django_db


def log_in(person: Account, **more: Any) -> Answer:
    return Api().post("/api/auth/login", {"handle": person.handle, "password": PASSWORD} | more)


def test_the_password_alone_is_refused_with_a_code_of_its_own() -> None:
    person = PersonFactory(password=PASSWORD)
    before = log_in(person).json["accessToken"]
    secret = add_app(person)
    refused = log_in(person)
    assert (refused.status, refused.error) == (401, "second_factor_required")
    assert refused.headers["WWW-Authenticate"]
    wrong = log_in(person, code="000000")
    assert (wrong.status, wrong.error) == (401, "invalid_second_factor")
    assert log_in(person, code=code_of(secret)).status == 200
    assert log_in(person, code=recovery_codes_of(person)[0]).status == 200
    # Tokens that were issued before the second factor go on.
    assert Api({"Authorization": f"Bearer {before}"}).get("/api/auth/me").status == 200


def test_a_wrong_password_says_nothing_about_the_second_factor() -> None:
    person = PersonFactory(password=PASSWORD)
    secret = add_app(person)
    for more in ({}, {"code": code_of(secret)}):
        refused = log_in(person, **more | {"password": "another long passphrase"})
        assert (refused.status, refused.error) == (401, "invalid_credentials")


def test_a_code_of_a_person_without_a_second_factor_is_ignored() -> None:
    assert log_in(PersonFactory(password=PASSWORD), code="123456").status == 200


def test_a_code_of_a_wrong_form_is_refused() -> None:
    person = PersonFactory(password=PASSWORD)
    add_app(person)
    for code, status in ((123456, 400), ("1" * 33, 400), ("", 400), (None, 401), ("١٢٣٤٥٦", 401)):
        assert log_in(person, code=code).status == status, code


def test_codes_of_the_steps_around_now_are_accepted_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    person = PersonFactory(password=PASSWORD)
    secret = add_app(person)
    # The test must not cross the edge of a step.
    stopped = SimpleNamespace(time=partial(float, time.time()))
    for module in (second_factors, totp):
        monkeypatch.setattr(module, "time", stopped)
    codes = [code_of(secret, steps_later=step) for step in (-3, -1, 0, -1, 1, 0, 3)]
    assert [log_in(person, code=code).status for code in codes] == [401, 200, 200, 401, 200, 401, 401]


def test_codes_are_throttled_by_person_whatever_the_address_is(settings: Any) -> None:
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"second_factor": (2, 3600)}
    person = PersonFactory(password=PASSWORD)
    secret = add_app(person)
    assert [log_in(person, code=code).status for code in ("1", "2", code_of(secret))] == [401, 401, 429]
    other = PersonFactory(password=PASSWORD)
    assert log_in(other, code=code_of(add_app(other))).status == 200


def test_a_super_admin_needs_one_if_the_operator_says_so(settings: Any) -> None:
    settings.ADMIN_MFA = True
    boss = SuperAdminFactory(password=PASSWORD)
    refused = log_in(boss)
    assert (refused.status, refused.error) == (401, "second_factor_required")
    assert "/account/" in refused.json["message"]
    secret = add_app(boss)
    assert log_in(boss, code=code_of(secret)).status == 200
    assert log_in(PersonFactory(password=PASSWORD)).status == 200


def test_credentials_of_a_super_admin_who_needs_one_have_no_rights(settings: Any) -> None:
    boss = SuperAdminFactory(password=PASSWORD)
    agent_request, community = RequestFactory(), CommunityFactory()
    approve = f"/v1/agent-tokens/requests/{agent_request.pk}/approve"
    tokens = log_in(boss).json
    signed_in = Api({"Authorization": f"Bearer {tokens['accessToken']}"})
    user_token = signed_in.post("/api/auth/embed-token").json["token"]
    holder = Api({"Authorization": f"Bearer {user_token}", "X-User-Id": str(boss.pk)})
    panel = Api(panel_headers(panel_secret(boss)))
    credential = jwt.person_credential(user_token, user_id=str(boss.pk))
    browser = Client()
    browser.force_login(boss)
    settings.ADMIN_MFA = True
    for caller in (signed_in, holder):
        assert caller.post(approve, {}).error == "token_revoked"
    refreshed = Api().post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})
    assert (refreshed.status, refreshed.error) == (401, "token_revoked")
    assert panel.post("/api/auth/panel-token").error == "panel_session_ended"
    assert jwt.ended_people([credential]) == [credential]
    assert browser.post("/account/continue/").status_code == 401
    for path in (f"/account/communities/{community.slug}/moderation/people/", "/account/", "/account/me/password/"):
        assert browser.get(path)["Location"] == "/account/me/security/"
    for path in ("/account/me/security/", "/account/confirm/"):
        assert browser.get(path).status_code == 200
    add_app(boss)
    assert browser.get(f"/account/communities/{community.slug}/moderation/people/").status_code == 200
    assert holder.post(approve, {}).status == 200


def test_who_waits_for_erasure_and_needs_one_can_still_cancel(settings: Any) -> None:
    settings.ADMIN_MFA = True
    browser, boss = Client(), SuperAdminFactory()
    Account.objects.filter(pk=boss.pk).update(erasure_due_at=timezone.now())
    browser.force_login(boss)
    assert browser.get("/account/me/security/")["Location"] == "/account/me/erase/"
    assert browser.get("/account/me/erase/").status_code == 200


def test_other_people_cost_no_query_for_it(settings: Any, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert not needs_second_factor(SuperAdminFactory.build())
        settings.ADMIN_MFA = True
        assert not needs_second_factor(PersonFactory.build())


@pytest.mark.django_db(transaction=True)
def test_of_equal_codes_at_once_one_is_accepted() -> None:
    person = PersonFactory(password=PASSWORD)
    secret = add_app(person)
    for code in (code_of(secret), recovery_codes_of(person)[0]):
        answers = race(4, lambda _number, code=code: log_in(person, code=code).status)
        assert sorted(answers) == [200, 401, 401, 401]


def test_secrets_are_encrypted_and_outlive_a_rotation(settings: Any) -> None:
    person = PersonFactory(password=PASSWORD)
    secret = add_app(person)
    recovery = recovery_codes_of(person)
    settings.SECRET_KEY = "another-secret-key" * 4
    assert log_in(person, code=recovery[0]).status == 200
    settings.ROOT_KEY, settings.ROOT_KEY_PREVIOUS = "r" * 60, settings.ROOT_KEY
    assert log_in(person, code=recovery[1]).status == 200
    for dry_run, number in ((True, 2), (False, 2), (False, 0)):
        pruned = second_factor.prune(now=timezone.now(), dry_run=dry_run)
        assert pruned == {"second factors under the previous key": number}
    settings.ROOT_KEY_PREVIOUS = ""
    assert log_in(person, code=code_of(secret)).status == 200
    settings.ROOT_KEY = "x" * 60
    assert log_in(person, code=recovery[2]).error == "invalid_second_factor"


def test_the_operator_removes_the_factors_of_a_person_who_lost_them() -> None:
    person, other = PersonFactory(password=PASSWORD), PersonFactory(password=PASSWORD)
    add_app(person)
    add_app(other)
    for removed in (1, 0):
        assert run_json("remove_second_factor", person.handle, "--json")["removed"] == removed
    assert not Authenticator.objects.filter(user=person).exists()
    assert log_in(person).status == 200
    assert log_in(other).error == "second_factor_required"
