"""A client of `/mcp` for tests in this process, which sends the messages of the protocol by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.api import Answer, Api

PATH = "/mcp"
VERSION = "2026-07-28"
LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
META = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a tool: its structured content, the text of its only block, and the body of a refusal."""

    raw: dict[str, Any]

    @property
    def content(self) -> dict[str, Any]:
        assert not self.raw["isError"], self.raw
        content: dict[str, Any] = self.raw["structuredContent"]
        assert orjson.loads(self.text) == content
        return content

    @property
    def text(self) -> str:
        (block,) = self.raw["content"]
        assert block["type"] == "text"
        return str(block["text"])

    @property
    def refusal(self) -> dict[str, Any]:
        assert self.raw["isError"], self.raw
        body: dict[str, Any] = orjson.loads(self.text)
        return body

    @property
    def error(self) -> str:
        return str(self.refusal["error"])


@dataclass(slots=True)
class Mcp:
    api: Api = field(default_factory=Api)

    @classmethod
    def as_agent(cls, token: str) -> Mcp:
        return cls(Api.as_agent(token))

    def send(self, method: str, params: dict[str, Any] | None = None, **options: Any) -> Answer:
        """Send a message of the newest protocol."""
        headers = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method}
        if method == "tools/call" and params is not None:
            headers["Mcp-Name"] = str(params.get("name"))
        headers |= options.pop("headers", {})
        return self.post(message(method, {**(params or {}), "_meta": META}), headers=headers, **options)

    def post(self, body: Any, **options: Any) -> Answer:
        return self.api.post(PATH, body, **options)

    def tools(self) -> dict[str, dict[str, Any]]:
        """The listed tools by their names."""
        return {tool["name"]: tool for tool in self.send("tools/list").json["result"]["tools"]}

    def call(self, tool: str, /, **arguments: Any) -> Result:
        answer = self.send("tools/call", {"name": tool, "arguments": arguments})
        assert answer.status == 200, answer
        return Result(answer.json["result"])


def message(method: str, params: dict[str, Any], *, id: str | int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
