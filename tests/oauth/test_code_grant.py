"""OAuth 2.1 for MCP clients: from the bare address to a tool call, and what attackers try."""

from __future__ import annotations

import base64
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from django.conf import settings
from django.test import Client

from agents.models import AgentToken
from oauth import views
from oauth.models import CodeGrant, OAuthClient, RefreshToken
from tests.agents.factories import agent_with_token
from tests.factories import PersonFactory

pytestmark = pytest.mark.django_db
FORM = "application/x-www-form-urlencoded"
LOOPBACK = "http://127.0.0.1/callback"
LISTENING = "http://127.0.0.1:49152/callback"
VERIFIER = "v" * 64
CHALLENGE = base64.urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture(autouse=True)
def _oauth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "OAUTH", True)
    grants = views.code_grants
    code = views.GrantType(views.serializers.CodeExchange, grants.exchange_code)
    refresh = views.GrantType(views.serializers.RefreshExchange, grants.refresh)
    monkeypatch.setattr(
        views, "GRANT_TYPES", views.GRANT_TYPES | {grants.CODE_TYPE: code, grants.REFRESH_TYPE: refresh}
    )


def register(**body: Any) -> Any:
    return Client().post("/oauth/register", {"client_name": "Editor", **body}, content_type="application/json")


def page_of(client_id: str, **changes: str) -> str:
    query = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": LISTENING,
        "state": "s",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "resource": f"{settings.BASE_URL}/mcp",
    }
    sent = {name: value for name, value in (query | changes).items() if value}
    return f"/account/authorize/?{urlencode(sent)}"


def returned(response: Any) -> dict[str, str]:
    assert response.status_code == 302
    assert response.headers["Location"].startswith(f"{LISTENING}?")
    return dict(parse_qsl(urlsplit(response.headers["Location"]).query))


def token(**body: str) -> Any:
    return Client().post("/oauth/token", urlencode(body), content_type=FORM)


class Consent:
    def __init__(self) -> None:
        self.agent = agent_with_token()[0].agent
        self.bystander = agent_with_token()[0].agent
        self.client_id = register(redirect_uris=[LOOPBACK]).json()["client_id"]
        self.browser = Client()
        self.browser.force_login(self.agent.operator)

    def code(self) -> str:
        form = {"agent": str(self.agent.pk), "decision": "confirm"}
        query = returned(self.browser.post(page_of(self.client_id), form))
        assert (query["state"], query["iss"]) == ("s", settings.BASE_URL)
        return query["code"]

    def exchange(self, issued: str, **changes: str) -> Any:
        body = {"code": issued, "client_id": self.client_id, "code_verifier": VERIFIER, "redirect_uri": LISTENING}
        return token(grant_type="authorization_code", **(body | changes))

    def refresh(self, value: str, **changes: str) -> Any:
        return token(**({"grant_type": "refresh_token", "refresh_token": value, "client_id": self.client_id} | changes))

    def active(self) -> int:
        return AgentToken.objects.active().filter(refresh_token__grant__client=self.client_id).count()


@pytest.fixture
def consent() -> Consent:
    return Consent()


def call_tool(name: str, access: str = "") -> Any:
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    if access:
        headers["Authorization"] = f"Bearer {access}"
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": {}}}
    return Client().post("/mcp", message, content_type="application/json", headers=headers)


def test_from_the_bare_address_to_a_tool_call(consent: Consent) -> None:
    refused = call_tool("whoami")
    assert refused.status_code == 401
    metadata = f"{settings.BASE_URL}/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{metadata}"' in refused.headers["WWW-Authenticate"]
    for path in (urlsplit(metadata).path, "/.well-known/oauth-protected-resource"):
        assert Client().get(path).json()["resource"] == f"{settings.BASE_URL}/mcp"
    assert Client().get("/.well-known/oauth-authorization-server").json()["issuer"] == settings.BASE_URL

    first = consent.exchange(consent.code()).json()
    assert first["expires_in"] == 3600
    assert call_tool("whoami", first["access_token"]).status_code == 200
    second = consent.refresh(first["refresh_token"]).json()
    assert call_tool("whoami", second["access_token"]).status_code == 200
    Client().post(
        "/oauth/revoke",
        urlencode({"token": second["refresh_token"], "client_id": consent.client_id}),
        content_type=FORM,
    )
    assert call_tool("whoami", second["access_token"]).status_code == 401
    assert consent.bystander.tokens.active().count() == 1


def test_without_the_setting_nothing_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "OAUTH", False)
    assert Client().get("/.well-known/oauth-protected-resource/mcp").status_code == 404
    assert register(redirect_uris=[LOOPBACK]).status_code == 404


@pytest.mark.parametrize(
    "uris",
    [
        [],
        ["http://example.com/cb"],
        ["javascript:alert(1)"],
        ["https://a@example.com/cb"],
        ["https://example.com/cb#x"],
        ["https://example.com/;script-src *"],
    ],
)
def test_unsafe_redirects_are_not_registered(uris: list[str]) -> None:
    assert register(redirect_uris=uris).status_code == 400
    assert not OAuthClient.objects.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": "https://evil.example/cb"},
        {"redirect_uri": "http://127.0.0.1:9/other"},
        {"redirect_uri": "http://localhost:9/callback"},
        {"redirect_uri": ""},
        {"client_id": "0199f000-0000-7000-8000-000000000000"},
        {"client_id": "x"},
    ],
)
def test_nothing_is_redirected_to_what_was_not_registered(consent: Consent, changes: dict[str, str]) -> None:
    assert consent.browser.get(page_of(**({"client_id": consent.client_id} | changes))).status_code == 400


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
    ],
)
def test_a_wrong_request_is_told_to_the_program(consent: Consent, changes: dict[str, str], error: str) -> None:
    assert returned(consent.browser.get(page_of(consent.client_id, **changes)))["error"] == error


@pytest.mark.parametrize(
    "changes",
    [
        {"code_verifier": "w" * 64},
        {"code_verifier": "v"},
        {"redirect_uri": LOOPBACK},
        {"client_id": "0199f000-0000-7000-8000-000000000000"},
        {"code": "x"},
        {"resource": "https://other.example/mcp"},
    ],
)
def test_an_injected_code_opens_nothing(consent: Consent, changes: dict[str, str]) -> None:
    assert consent.exchange(consent.code(), **changes).status_code == 400
    assert consent.active() == 0


def test_a_code_used_twice_ends_all_its_tokens(consent: Consent) -> None:
    code = consent.code()
    access = consent.exchange(code).json()["access_token"]
    assert consent.exchange(code).json()["error"] == "invalid_grant"
    assert consent.active() == 0
    assert call_tool("whoami", access).status_code == 401


def test_a_refresh_token_used_twice_ends_all_tokens(consent: Consent) -> None:
    first = consent.exchange(consent.code()).json()
    second = consent.refresh(first["refresh_token"]).json()
    assert consent.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    assert consent.active() == 0
    assert consent.refresh(second["refresh_token"]).status_code == 400


def test_only_the_operator_consents_and_on_no_framed_page(consent: Consent) -> None:
    page = consent.browser.get(page_of(consent.client_id))
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert "form-action 'self' http://127.0.0.1:49152" in page.headers["Content-Security-Policy"]
    assert Client().get(page_of(consent.client_id)).headers["Location"].startswith("/account/sign-in/")
    form = {"agent": str(consent.agent.pk), "decision": "confirm"}
    stranger = Client()
    stranger.force_login(PersonFactory())
    assert stranger.post(page_of(consent.client_id), form).status_code == 200
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(consent.agent.operator)
    assert strict.post(page_of(consent.client_id), form).status_code == 403
    refused = returned(consent.browser.post(page_of(consent.client_id), {"decision": "refuse"}))
    assert refused["error"] == "access_denied"
    assert not CodeGrant.objects.exists()


def test_a_dump_contains_no_code_and_no_token(consent: Consent) -> None:
    code = consent.code()
    answer = consent.exchange(code).json()
    stored = [bytes(CodeGrant.objects.get().code_digest), bytes(RefreshToken.objects.get().digest)]
    assert not {code.encode(), answer["refresh_token"].encode()} & set(stored)
    assert all(len(each) == 32 for each in stored)
