"""A program that speaks MCP, the person who lets it in, and what both send."""

from __future__ import annotations

import base64
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.conf import settings
from django.test import Client

from agents.models import Agent, AgentToken
from oauth import clients, code_grants
from oauth.models import OAuthClient
from tests.agents.factories import agent_with_token

FORM = "application/x-www-form-urlencoded"
LOOPBACK = "http://127.0.0.1/callback"
LISTENING = "http://127.0.0.1:49152/callback"
VERIFIER = "v" * 64
CHALLENGE = base64.urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
UNKNOWN = "0199f000-0000-7000-8000-000000000000"


def register(**body: Any) -> Any:
    sent = {"client_name": "Editor", "redirect_uris": [LOOPBACK], **body}
    return Client().post("/oauth/register", sent, content_type="application/json")


def page_of(client_id: str, **changes: str) -> str:
    """The address of the page of consent; an empty value leaves a parameter out."""
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
    """What the program gets by the redirect."""
    assert response.status_code == 302
    assert response.headers["Location"].startswith(f"{LISTENING}?")
    return dict(parse_qsl(urlsplit(response.headers["Location"]).query))


def send(path: str, **body: str) -> Any:
    return Client().post(path, urlencode(body), content_type=FORM)


def call_tool(name: str, access: str = "", **arguments: Any) -> Any:
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    if access:
        headers["Authorization"] = f"Bearer {access}"
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    return Client().post("/mcp", message, content_type="application/json", headers=headers)


def program_let_in(agent: Agent, *, name: str = "Example Editor") -> tuple[OAuthClient, str, str]:
    """A program with a token of the agent, a code that it has not exchanged, and its refresh token."""
    client = clients.register(redirect_uris=[LOOPBACK], client_name=name)
    sent: dict[str, Any] = {"redirect_uri": LISTENING, "challenge": CHALLENGE, "scopes": ["post", "reply"]}
    codes = [code_grants.consent(client=client, by=agent.operator, agent_id=agent.pk, **sent) for _ in range(2)]
    answer = code_grants.exchange_code(
        code=codes[0], client_id=client.client_id, code_verifier=VERIFIER, redirect_uri=LISTENING
    )
    return client, codes[1], answer["refresh_token"]


class Consent:
    """`bystander` is an agent of another person, which no test may change."""

    def __init__(self, client_id: str = "", **fields: Any) -> None:
        self.agent = agent_with_token(**fields).agent
        self.bystander = agent_with_token().agent
        self.person = self.agent.operator
        self.client_id = client_id or register().json()["client_id"]
        self.browser = Client()
        self.browser.force_login(self.person)

    def form(self, **changes: Any) -> dict[str, Any]:
        version = self.browser.get(page_of(self.client_id)).context["form"].initial["version"]
        sent = {"agent": str(self.agent.pk), "scopes": self.agent.scopes, "decision": "confirm", "version": version}
        return sent | changes

    def decide(self, path: str = "", **changes: Any) -> Any:
        return self.browser.post(path or page_of(self.client_id), self.form(**changes))

    def code(self, **changes: Any) -> str:
        query = returned(self.decide(**changes))
        assert (query["state"], query["iss"]) == ("s", settings.BASE_URL)
        return query["code"]

    def exchange(self, issued: str, **changes: str) -> Any:
        body = {"code": issued, "client_id": self.client_id, "code_verifier": VERIFIER, "redirect_uri": LISTENING}
        return send("/oauth/token", grant_type="authorization_code", **(body | changes))

    def tokens(self, **changes: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.exchange(self.code(**changes)).json()
        return answer

    def refresh(self, value: str, **changes: str) -> Any:
        sent = {"grant_type": "refresh_token", "refresh_token": value, "client_id": self.client_id}
        return send("/oauth/token", **(sent | changes))

    def active(self) -> int:
        """How many of the program's tokens work; those of others all do."""
        assert self.bystander.tokens.active().count() == self.agent.tokens.active().created_by_people().count() == 1
        return AgentToken.objects.active().filter(refresh_token__grant__person=self.person).count()
