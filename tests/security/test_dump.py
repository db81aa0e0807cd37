"""A dump of the database contains no valid credential in any form."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.core.management import call_command
from django.db import connection
from django.test import Client
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken
from rest_framework_simplejwt.tokens import RefreshToken as EarlierRefreshToken

from config.runtime.postgres_binaries import binaries
from tests.account_area.second_factors import add_app, recovery_codes_of
from tests.agents.factories import ApprovedFactory
from tests.api import Answer, Api
from tests.commands.running import run_json
from tests.factories import PersonFactory, SuperAdminFactory
from tests.panel_sessions import panel_headers, secret_in
from tests.waiting import eventually
from tests.webhooks.making import GLOBAL_URL

PASSWORD = "correct horse battery"
KEY = "a key that only its sender knows"


def dump() -> str:
    """The whole test database as `pg_dump` writes it."""
    parameters = connection.get_connection_params()
    options = [
        "--host",
        parameters["host"],
        "--port",
        str(parameters.get("port") or 5432),
        "--username",
        parameters["user"],
    ]
    finished = subprocess.run(
        [binaries() / "pg_dump", *options, parameters["dbname"]], capture_output=True, text=True, check=True
    )
    return finished.stdout


def forms_of(secret: str) -> list[str]:
    """In clear, and in hexadecimal as pg_dump prints bytea."""
    return [secret, secret.encode().hex()]


def links_to_new_passwords(address: str) -> str:
    """The token of the link in the mail to this address."""
    Client().post("/account/password/reset/", {"address": address})
    assert eventually(lambda: bool(mail.outbox))
    return str(re.findall(r"/account/password/reset/[^/]+/([^/]+)/", str(mail.outbox[-1].body))[0])


def credentials() -> dict[str, str]:
    """One valid credential of every kind: each is created by one call and used by another."""
    boss = SuperAdminFactory(password=PASSWORD)
    session = Api().post("/api/auth/login", {"handle": boss.handle, "password": PASSWORD}).json
    signed_in = Api({"Authorization": f"Bearer {session['accessToken']}"})
    user = signed_in.post("/api/auth/embed-token", key=KEY).json
    person = Api({"Authorization": f"Bearer {user['token']}", "X-User-Id": user["userId"]})
    approved = ApprovedFactory(requester=boss)
    agent = person.post(f"/v1/agent-tokens/requests/{approved.pk}/token", {}, key=KEY).json["token"]
    hook = {"url": GLOBAL_URL, "agentId": str(approved.agent_id)}
    webhook = person.post("/v1/webhooks", hook, key=KEY).json
    rotated = person.post(f"/v1/webhooks/{webhook['id']}/rotate").json
    panel = signed_in.post("/api/auth/panel-session", key=KEY, headers=panel_headers())
    panel_secret = secret_in(panel)
    assert Api().post("/api/auth/panel-token", headers=panel_headers(panel_secret)).status == 200
    admin_client = Client(enforce_csrf_checks=True)
    admin_client.get("/account/sign-in/")
    form = {
        "login": boss.handle,
        "password": PASSWORD,
        "csrfmiddlewaretoken": admin_client.cookies["csrftoken"].value,
    }
    admin_client.post("/account/sign-in/", form)
    app = admin_client.get("/account/me/security/app/").context["secret"]
    boss.emailaddress_set.create(email="boss@example.com", verified=True, primary=True)
    link = links_to_new_passwords("boss@example.com")
    pending = admin_client.session["pending_totp"]
    assert app not in pending
    other = PersonFactory()
    other_app = add_app(other)
    assert Api().post("/api/auth/refresh", {"refreshToken": session["refreshToken"]}).status == 200
    assert Api.as_agent(agent).get("/v1/agent/self").status == 200
    assert person.get("/v1/agent-tokens").status == 200
    assert admin_client.get("/admin/").status_code == 200
    return {
        "access token": session["accessToken"],
        "refresh token": session["refreshToken"],
        "user token": user["token"],
        "agent token": agent,
        "secret of a webhook": rotated["secret"].removeprefix("whsec_"),
        "former secret of a webhook": webhook["secret"].removeprefix("whsec_"),
        "panel session": panel_secret,
        "admin session": admin_client.cookies["sessionid"].value,
        "secret of an authenticator app": other_app,
        "secret of an app that is being set up": app,
        "link to a new password": link,
        **{f"recovery code {number}": code for number, code in enumerate(recovery_codes_of(other))},
        "CSRF token": admin_client.cookies["csrftoken"].value,
        "Idempotency-Key": KEY,
        "password": PASSWORD,
    }


@pytest.mark.django_db(transaction=True)
def test_dump_contains_no_valid_credential(settings: Any) -> None:
    settings.WEBHOOKS = True
    secrets = credentials()
    ended = Api().post("/api/auth/login", {"handle": PersonFactory(password=PASSWORD).handle, "password": PASSWORD})
    assert Api().post("/api/auth/logout", {"refreshToken": ended.json["refreshToken"]}).status == 200
    text = dump()
    assert "COPY public.messaging_account" in text
    assert "COPY public.django_session" in text
    assert "COPY public.messaging_panelsession" in text
    assert [kind for kind, secret in secrets.items() for form in forms_of(secret) if form in text] == []


@pytest.mark.django_db
def test_a_sign_in_stores_nothing() -> None:
    Api().post("/api/auth/login", {"handle": PersonFactory(password=PASSWORD).handle, "password": PASSWORD})
    assert not OutstandingToken.objects.exists()


def logout(token: str) -> Answer:
    return Api().post("/api/auth/logout", {"refreshToken": token})


@pytest.mark.django_db
def test_prune_blanks_refresh_tokens_that_an_earlier_release_stored_in_clear() -> None:
    """Also tokens that it stores while both releases serve. The tokens stay valid and can be logged out."""
    person = PersonFactory()
    tokens = [str(EarlierRefreshToken.for_user(person)) for _ in range(3)]
    logout(tokens[0])
    assert run_json("prune", "--dry-run", "--json")["sign-in tokens in clear"] == 3
    assert set(OutstandingToken.objects.values_list("token", flat=True)) == set(tokens)
    assert run_json("prune", "--json")["sign-in tokens in clear"] == 3
    assert set(OutstandingToken.objects.values_list("token", flat=True)) == {""}
    assert [logout(token).status for token in tokens[:2]] == [200, 200]
    tried = [Api().post("/api/auth/refresh", {"refreshToken": token}) for token in tokens]
    assert [answer.json.get("error") for answer in tried] == ["token_revoked", "token_revoked", None]
    assert BlacklistedToken.objects.count() == 2
    assert run_json("prune", "--json")["sign-in tokens in clear"] == 0


@pytest.mark.django_db
def test_session_key_in_the_database_is_not_a_valid_cookie(settings: Any) -> None:
    admin_client = Client()
    admin_client.force_login(SuperAdminFactory())
    (row,) = Session.objects.all()
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = row.session_key
    assert (admin_client.get("/admin/").status_code, thief.get("/admin/").status_code) == (200, 302)
    admin_client.post("/admin/logout/")
    assert not Session.objects.filter(session_key=row.session_key).exists()
    assert admin_client.get("/admin/").status_code == 302


@pytest.mark.django_db
@pytest.mark.parametrize("cookie", ["", "x", "x" * 32, "x" * 5000, "\\000" * 12, "é" * 20])
def test_malformed_session_cookie_is_not_signed_in(settings: Any, cookie: str) -> None:
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = cookie
    assert thief.get("/admin/").status_code == 302


@pytest.mark.django_db(transaction=True)
def test_migration_removes_stored_tokens_and_sessions() -> None:
    call_command("migrate", "messaging", "0003", verbosity=0)
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO token_blacklist_outstandingtoken (jti, token, expires_at) VALUES ('j', 'raw', now())"
            )
            cursor.execute("INSERT INTO django_session VALUES ('raw', '', now() + interval '1 day')")
    finally:
        # The migrations of all apps: those that depend on these ones have been reversed too.
        call_command("migrate", verbosity=0)
    assert OutstandingToken.objects.get().token == ""
    assert not Session.objects.exists()
