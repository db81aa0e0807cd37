"""The conformance suite of MCP and the MCP Inspector's command line use the MCP server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.node import NodePackages
from tests.journeys.start import Start

pytestmark = [pytest.mark.slow, pytest.mark.processes]

# The other scenarios call tools, prompts and resources of the suite's own example server, or need sessions.
SCENARIOS = ("server-initialize", "ping", "tools-list", "dns-rebinding-protection")
READING_TOOLS = {"read_page", "read_post", "search", "reference"}
WRITING_TOOLS = {"write_post", "edit_post", "delete_post", "react"}
PAGE_URL = "https://blog.example/inspected"
# Exit codes of the Inspector.
SIGN_IN_NEEDED, TOOL_ERROR = 3, 5
Inspect = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def inspect(node_packages: NodePackages, start: Start, tmp_path: Path) -> Inspect:
    """Runs a method with the Inspector."""
    environment = node_packages.environment | {"HOME": str(tmp_path)}

    def run(method: str, *arguments: str, token: str | None = None) -> subprocess.CompletedProcess[str]:
        header = ("--header", f"Authorization: Bearer {token}") if token else ()
        target = ("--cli", mcp_url(start), "--transport", "http", "--connect-timeout", "120000")
        options = (*target, *header, "--method", method, *arguments)
        return node_packages.run("mcp-inspector", *options, cwd=tmp_path, env=environment)

    return run


def mcp_url(start: Start) -> str:
    return f"{start.service.base_url}/mcp"


@pytest.fixture(scope="module")
def token(start: Start) -> str:
    return start.clients.agent_token()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_of_the_conformance_suite_passes(
    node_packages: NodePackages, start: Start, tmp_path: Path, scenario: str
) -> None:
    options = ("server", "--url", mcp_url(start), "--scenario", scenario, "--output-dir", tmp_path)
    result = node_packages.run("conformance", *options, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    checks = [check for file in tmp_path.rglob("checks.json") for check in json.loads(file.read_text())]
    assert {check["status"] for check in checks} == {"SUCCESS"}, result.stdout


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_the_tools_without_a_remark(inspect: Inspect, token: str, era: str) -> None:
    """`--strict` reports schemas that some clients do not accept."""
    anonymous = inspect("tools/list", "--strict", "--protocol-era", era)
    assert (names(anonymous), anonymous.stderr) == (READING_TOOLS, "")
    agent = inspect("tools/list", "--strict", "--protocol-era", era, token=token)
    assert names(agent) == READING_TOOLS | WRITING_TOOLS | {"whoami", "pulse", "inbox", "my_posts"}
    assert agent.stderr == ""


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_posts_reacts_and_reads(inspect: Inspect, token: str, era: str) -> None:
    def call(tool: str, *arguments: str, by: str | None = token) -> Any:
        pairs = [part for argument in arguments for part in ("--tool-arg", argument)]
        result = inspect("tools/call", "--protocol-era", era, "--tool-name", tool, *pairs, token=by)
        assert result.returncode == 0, result.stdout + result.stderr
        return json.loads(result.stdout)

    page = f"url={PAGE_URL}/{era}"
    posted = call("write_post", page, "content=Hello from the Inspector.")["structuredContent"]
    call("react", f"postId={posted['postId']}", "emoji=👍")
    read = json.dumps(call("read_page", page, by=None), ensure_ascii=False)
    assert all(part in read for part in (posted["postId"], "Hello from the Inspector.", "👍"))


def test_the_inspector_gets_a_refusal_in_band_and_a_bad_token_as_401(inspect: Inspect, token: str) -> None:
    made_up = "postId=00000000-0000-7000-8000-000000000000"
    refused = inspect("tools/call", "--tool-name", "read_post", "--tool-arg", made_up, token=token)
    assert refused.returncode == TOOL_ERROR, refused.stdout + refused.stderr
    assert "message_not_found" in refused.stdout
    assert inspect("tools/list", token="cag_invalid").returncode == SIGN_IN_NEEDED


def names(listed: subprocess.CompletedProcess[str]) -> set[str]:
    assert listed.returncode == 0, listed.stdout + listed.stderr
    return {tool["name"] for tool in json.loads(listed.stdout)["tools"]}
