"""The official client, with the newest protocol and with a handshake, against a running service of two workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import httpx2
import orjson
import psutil
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.mcp_server.rpc import PATH
from tests.mcp_server.running import McpEndpoint
from tests.remote import Remote

pytestmark = [pytest.mark.slow, pytest.mark.processes]

# "auto" discovers the newest protocol, "legacy" opens with a handshake.
MODES = ["auto", "legacy", "2026-07-28"]
SECONDS = 60


@asynccontextmanager
async def connected(url: str, headers: dict[str, str], mode: str, statuses: set[int]) -> AsyncIterator[Client]:
    """A connected client. `statuses` get those of its HTTP responses."""

    async def note(response: httpx2.Response) -> None:
        statuses.add(response.status_code)

    async with (
        httpx2.AsyncClient(headers=headers, timeout=SECONDS, event_hooks={"response": [note]}) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


def with_client(endpoint: McpEndpoint, mode: str, run: Callable[[Client], Awaitable[None]], **headers: str) -> set[int]:
    """The statuses of the HTTP responses. The client raises a group of exceptions if it is refused."""
    statuses: set[int] = set()

    async def session() -> None:
        async with connected(endpoint.url, headers or endpoint.headers, mode, statuses) as client:
            await run(client)

    try:
        asyncio.run(asyncio.wait_for(session(), SECONDS))
    except* MCPError:
        assert HTTPStatus.UNAUTHORIZED in statuses
    return statuses


@pytest.mark.journey
@pytest.mark.parametrize("mode", MODES)
def test_a_client_reads_writes_and_reacts(mcp_endpoint: McpEndpoint, mode: str) -> None:
    url = f"https://blog.example/{mode}"

    async def run(client: Client) -> None:
        # The client validates each structured content against the output schema of its tool.
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert len(names) == 12
        arguments = {"url": url, "content": "From a client."}
        first = (await client.call_tool("write_post", arguments)).structured_content
        again = (await client.call_tool("write_post", arguments)).structured_content
        assert first is not None
        assert again is not None
        assert (again["postId"], first["replayed"], again["replayed"]) == (first["postId"], False, True)
        reaction = await client.call_tool("react", {"postId": first["postId"], "emoji": "👍"})
        assert reaction.structured_content is not None
        assert reaction.structured_content["action"] == "added"
        page = (await client.call_tool("read_page", {"url": url})).structured_content
        assert page is not None
        (message,) = page["untrusted"]["messages"]
        assert (message["content"], message["reactionCounts"]) == ("From a client.", {"👍": 1})
        for tool, more in (("read_post", {"postId": first["postId"]}), ("search", {"query": "client"}), ("inbox", {})):
            assert not (await client.call_tool(tool, more)).is_error
        for topic in ("tags", "communities", "limits"):
            assert not (await client.call_tool("reference", {"topic": topic})).is_error
        account = (await client.call_tool("whoami", {})).structured_content
        assert account is not None
        assert account["account"]["kind"] == "agent"

    with_client(mcp_endpoint, mode, run)


@pytest.mark.parametrize("mode", MODES)
def test_a_refusal_is_an_error_that_the_model_sees(mcp_endpoint: McpEndpoint, mode: str) -> None:
    async def run(client: Client) -> None:
        await client.list_tools()
        refused = await client.call_tool("write_post", {"url": "https://a.example", "content": " "})
        assert refused.is_error
        body = orjson.loads(refused.content[0].text)  # type: ignore[union-attr]
        assert (body["error"], bool(body["message"])) == ("empty_message", True)

    with_client(mcp_endpoint, mode, run)


@pytest.mark.parametrize("mode", MODES)
def test_a_client_without_a_token_reads(mcp_endpoint: McpEndpoint, mode: str) -> None:
    async def run(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["read_page", "read_post", "search", "reference"]
        assert not (await client.call_tool("read_page", {"url": "https://a.example"})).is_error

    with_client(mcp_endpoint, mode, run, Accept="application/json, text/event-stream")


@pytest.mark.parametrize("mode", MODES)
def test_a_bad_token_is_refused_before_any_tool(mcp_endpoint: McpEndpoint, mode: str) -> None:
    async def run(client: Client) -> None:
        await client.list_tools()

    assert with_client(mcp_endpoint, mode, run, Authorization="Bearer cag_nonsense") == {401}


def test_no_worker_remembers_a_client(mcp_endpoint: McpEndpoint) -> None:
    """A handshake on one connection, the calls on others: each may be served by either worker."""
    port, headers = mcp_endpoint.service.port, mcp_endpoint.headers
    handshake = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    opened = Remote(port, headers).call("POST", PATH, rpc("initialize", handshake))
    assert opened.json["result"]["protocolVersion"] == "2025-06-18"
    assert "mcp-session-id" not in opened.headers

    def call(number: int) -> tuple[str, str]:
        arguments = {"url": "https://stateless.example", "content": "Once.", "idempotencyKey": "stateless"}
        body = rpc("tools/call", {"name": "write_post", "arguments": arguments}, id=number)
        remote = Remote(port, headers, timeout=SECONDS)
        try:
            answer = remote.call("POST", PATH, body, **{"MCP-Protocol-Version": "2025-06-18"})
        finally:
            remote.close()
        assert (answer.status, answer.json["id"]) == (200, number)
        text = orjson.loads(answer.json["result"]["content"][0]["text"])
        return text.get("postId"), text.get("error")

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(call, range(24)))
    # A call that runs at the same time as the first one is told to wait.
    assert {error for _id, error in answers} <= {None, "idempotency_in_progress"}
    assert len({post for post, _error in answers if post is not None}) == 1
    assert len(mcp_endpoint.service.workers()) == 2
    assert all(psutil.pid_exists(worker.pid) for worker in mcp_endpoint.service.workers())


def rpc(method: str, params: dict[str, Any], *, id: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
