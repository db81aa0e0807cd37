"""A dump of the database contains no valid credential in any form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection
from django.db.migrations import RunSQL
from django.test import Client
from django.urls import URLResolver, get_resolver
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken
from rest_framework_simplejwt.tokens import RefreshToken as EarlierRefreshToken

from agents.models import AgentToken
from config.derived import openid_connect
from messaging.models import PersonExport
from messaging.privacy.exports import content_of
from tests.account_area.oidc_provider import CLIENT_ID, CLIENT_SECRET, running_provider
from tests.api import Answer, Api
from tests.commands.running import run_json
from tests.factories import PersonFactory, SuperAdminFactory
from tests.personal_data.test_export import files, made
from tests.security.credentials import (
    COLUMNS,
    MODULES,
    OPEN_COLUMNS,
    OPEN_MODULES,
    OPEN_ROUTES,
    PASSWORD,
    ROUTES,
    SECRET_COLUMN,
    SECRET_PARAMETER,
    SIGNS,
    credentials,
)
from tests.security.dumps import dump, forms_of

ended_sessions = import_module("messaging.migrations.0004_ended_sessions")
PACKAGES = (
    "config",
    "kernel",
    "runtime",
    "messaging",
    "agents",
    "reactions",
    "embeds",
    "mails",
    "moving",
    "mcp_server",
    "account_area",
    "desk",
    "oauth",
)


def packed() -> str:
    """What the dump contains in a form that anybody can read, but not search: data of sessions, and archives."""
    sessions = [str(row.get_decoded()) for row in Session.objects.all()]
    archives = [file for export in PersonExport.objects.all() for file in files(b"".join(content_of(export))).values()]
    assert sessions
    assert archives
    return str([sessions, archives])


@pytest.fixture
def secrets(settings: Any) -> Iterator[dict[str, str]]:
    settings.WEBHOOKS = True
    with running_provider() as provider:
        settings.SOCIALACCOUNT_PROVIDERS = openid_connect(
            issuer=provider.url, client_id=CLIENT_ID, secret=CLIENT_SECRET, name="Example ID"
        )
        yield credentials(provider)


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_dump_contains_no_valid_credential(secrets: dict[str, str]) -> None:
    assert {*COLUMNS.values(), *ROUTES.values(), *MODULES.values()} <= secrets.keys()
    ended = Api().post("/api/auth/login", {"handle": PersonFactory(password=PASSWORD).handle, "password": PASSWORD})
    assert Api().post("/api/auth/logout", {"refreshToken": ended.json["refreshToken"]}).status == 200
    made(AgentToken.objects.get(scopes=None).agent.operator)
    text = dump()
    for table in ("messaging_account", "django_session", "messaging_panelsession", "mfa_authenticator"):
        assert f"COPY public.{table} " in text
    text += packed()
    assert [kind for kind, secret in secrets.items() if any(form in text for form in forms_of(secret))] == []


# A partition has the columns of its table.
COLUMNS_OF_SECRETS = """
SELECT relname || '.' || attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  AND attnum > 0 AND NOT attisdropped AND (atttypid = 'bytea'::regtype OR attname ~ %s)
"""


@pytest.mark.django_db
def test_every_column_of_a_secret_is_searched_for_or_has_a_reason() -> None:
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS_OF_SECRETS, [SECRET_COLUMN])
        found = {name for (name,) in cursor.fetchall()}
    assert found == COLUMNS.keys() | OPEN_COLUMNS.keys()


def test_every_address_with_a_secret_is_searched_for_or_has_a_reason() -> None:
    found = set(routes_with_secrets(get_resolver()))
    assert found == ROUTES.keys() | OPEN_ROUTES.keys()


def routes_with_secrets(resolver: URLResolver) -> Iterator[str]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from routes_with_secrets(pattern)
        elif any(re.search(SECRET_PARAMETER, name) for name in pattern.pattern.regex.groupindex):
            yield str(pattern.name)


def test_every_module_that_makes_secrets_is_searched_for_or_has_a_reason() -> None:
    modules = (file for package in PACKAGES for file in (settings.BASE_DIR / package).rglob("*.py"))
    found = {str(file.relative_to(settings.BASE_DIR)) for file in modules if re.search(SIGNS, file.read_text())}
    assert found == MODULES.keys() | OPEN_MODULES.keys()


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
def test_malformed_session_cookie_is_not_signed_in(settings: Any) -> None:
    for cookie in ["", "x", "x" * 32, "x" * 5000, "\\000" * 12, "é" * 20]:
        thief = Client()
        thief.cookies[settings.SESSION_COOKIE_NAME] = cookie
        assert thief.get("/admin/").status_code == 302, cookie


@pytest.mark.django_db
def test_migration_removes_stored_tokens_and_sessions() -> None:
    """Its statements run alone: to migrate back and forth would run those of all apps."""
    statements = [each.sql for each in ended_sessions.Migration.operations if isinstance(each, RunSQL)]
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO token_blacklist_outstandingtoken (jti, token, expires_at) VALUES ('j', 'raw', now())"
        )
        cursor.execute("INSERT INTO django_session VALUES ('raw', '', now() + interval '1 day')")
        for statement in statements:
            cursor.execute(statement)
    assert OutstandingToken.objects.get().token == ""
    assert not Session.objects.exists()
