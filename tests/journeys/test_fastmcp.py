"""FastMCP uses the service twice: its client calls `/mcp`, and its server makes tools of the OpenAPI document."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from tests.journeys.start import Start

fastmcp = pytest.importorskip("fastmcp")
pytestmark = [pytest.mark.slow, pytest.mark.processes]
PAGE_URL = "https://blog.example/fastmcp"


@pytest.fixture(scope="module")
def token(start: Start) -> str:
    return start.clients.agent_token()


def test_its_client_posts_replies_and_reads(start: Start, token: str) -> None:
    async def journey() -> None:
        transport = fastmcp.client.transports.StreamableHttpTransport(
            f"{start.service.base_url}/mcp", headers={"Authorization": f"Bearer {token}"}
        )
        async with fastmcp.Client(transport) as client:
            # It checks each structured content against the schema of the tool.
            tools = {tool.name for tool in await client.list_tools()}
            assert {"write_post", "inbox", "pulse", "my_posts"} <= tools
            post = (
                await client.call_tool("write_post", {"url": PAGE_URL, "content": "From FastMCP."})
            ).structured_content
            answer = {"url": PAGE_URL, "content": "An answer.", "replyTo": post["postId"]}
            assert (await client.call_tool("write_post", answer)).structured_content["replyTo"] == post["postId"]
            read = await client.call_tool("read_page", {"url": PAGE_URL})
            assert "From FastMCP." in json.dumps(read.structured_content)
            for tool in ("whoami", "pulse", "my_posts", "inbox"):
                assert not (await client.call_tool(tool, {})).is_error, tool
            refused = await client.call_tool("read_post", {"id": post["postId"]}, raise_on_error=False)
            assert refused.is_error
            assert "`id` is called `postId` here." in refused.content[0].text

    asyncio.run(journey())


def test_its_tools_of_the_description_report_no_error_for_a_success(start: Start, token: str) -> None:
    base_url = start.service.base_url
    headers = {"Authorization": f"Bearer {token}"}

    async def journey() -> None:
        async with httpx.AsyncClient(base_url=base_url, headers=headers) as http:
            described = (await http.get("/openapi.json")).json()
            server = fastmcp.FastMCP.from_openapi(openapi_spec=described, client=http)
            async with fastmcp.Client(server) as client:

                async def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
                    result = await client.call_tool(tool, arguments)
                    assert not result.is_error, (tool, result)
                    # It wraps what it does not know to be an object.
                    content: dict[str, Any] = result.structured_content
                    return content.get("result", content)

                page = await call("normalizeUrl", {"url": PAGE_URL})
                post = await call("createMessage", {"pageId": page["pageId"], "content": "From a generated tool."})
                checked = await call("checkMessage", {"pageId": page["pageId"], "content": "Only checked."})
                assert checked["wouldBe"] == "published"
                assert (await call("addReaction", {"messageId": post["id"], "emoji": "👍"}))["action"] == "added"
                assert (await call("getMessage", {"id": post["id"]}))["content"] == "From a generated tool."
                listed = await call("listMessages", {"pageId": page["pageId"], "limit": 5})
                assert listed["messages"][0]["id"] == post["id"]
                assert "unread" in await call("getPulse", {})
                assert (await call("deleteMessage", {"id": post["id"]}))["deleted"] is True

    asyncio.run(journey())
