"""The OAuth of the official MCP client with a running service: its person signs in and confirms on the real pages."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import httpx2
import pytest
from bs4 import BeautifulSoup
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

from tests.clients import PASSWORD, Clients, Person
from tests.oauth.consents import LISTENING, LOOPBACK
from tests.service import running_service

pytestmark = [pytest.mark.slow, pytest.mark.processes]
SECONDS = 60


class Storage:
    """Where the client has its registration and tokens, as between two starts of it."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


class Browser:
    """The person's browser. `scopes` are those that they leave selected; None: all that are offered."""

    def __init__(self, base: str, person: Person, scopes: list[str] | None) -> None:
        self.http, self.scopes, self.location = httpx.Client(base_url=base, timeout=SECONDS), scopes, ""
        self.sent: list[str] = []
        self._submit("/account/sign-in/", login=person.handle, password=PASSWORD)

    async def open(self, address: str) -> None:
        self.sent.append(dict(parse_qsl(urlsplit(address).query)).get("scope", ""))
        self.location = await asyncio.to_thread(self._consent, address)

    async def returned(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(dict(parse_qsl(urlsplit(self.location).query)))

    def _consent(self, address: str) -> str:
        page = BeautifulSoup(self.http.get(address).text, "html.parser")
        offered = [box["value"] for box in page.select("input[name=scopes]")]
        (agent,) = (choice["value"] for choice in page.select("input[name=agent]"))
        scopes = offered if self.scopes is None else self.scopes
        return self._submit(address, agent=agent, scopes=scopes, decision="confirm")

    def _submit(self, address: str, **fields: Any) -> str:
        page = BeautifulSoup(self.http.get(address).text, "html.parser")
        hidden = {field["name"]: field.get("value", "") for field in page.select("main input[type=hidden]")}
        answer = self.http.post(address, data=hidden | fields, headers={"Referer": str(self.http.base_url)})
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]


async def call(url: str, storage: Storage, browser: Browser, tool: str, arguments: dict[str, Any]) -> Any:
    metadata = OAuthClientMetadata(client_name="Journey", redirect_uris=[LOOPBACK, LISTENING])
    auth = OAuthClientProvider(url, metadata, storage, browser.open, browser.returned)
    async with (
        httpx2.AsyncClient(auth=auth, timeout=SECONDS) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        return await client.call_tool(tool, arguments)


def test_a_client_gets_a_token_from_a_bare_address_renews_it_and_asks_for_more() -> None:
    with running_service(OAUTH="1") as service:
        clients = Clients(service)
        person = clients.person()
        clients.approved_request(person)
        url, storage = f"{service.base_url}/mcp", Storage()
        reader = Browser(service.base_url, person, ["reply"])

        def run(browser: Browser, tool: str, arguments: dict[str, Any] | None = None) -> Any:
            return asyncio.run(asyncio.wait_for(call(url, storage, browser, tool, arguments or {}), SECONDS))

        assert not run(reader, "whoami").is_error
        assert (len(reader.sent), storage.tokens.scope) == (1, "reply")
        # An expired token is renewed without the person.
        first = storage.tokens
        storage.tokens = first.model_copy(update={"access_token": "cag_" + "0" * 46, "expires_in": -1})
        assert not run(reader, "whoami").is_error
        assert storage.tokens.refresh_token != first.refresh_token
        # A missing scope leads to the person again, who now lets it post.
        writer = Browser(service.base_url, person, None)
        posted = run(writer, "write_post", {"url": "https://journey.example", "content": "By way of OAuth."})
        assert not posted.is_error, posted
        assert "post" in storage.tokens.scope.split()
        assert len(writer.sent) == 1
