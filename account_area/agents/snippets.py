"""The commands and configurations that a new token's page offers.

They contain PLACEHOLDER, which a script of the page replaces: the HTML contains the token once.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, Scope
from kernel.discovery.client import install_command
from messaging.pages.services import normalize_url

PLACEHOLDER = "AGENT_TOKEN"
SERVER = "community-messaging"


@dataclass(frozen=True, slots=True)
class Snippet:
    title: str | Promise
    text: str


def snippets_for(agent: Agent) -> list[Snippet]:
    return [
        Snippet(_("First post, with curl") if Scope.POST in agent.scopes else _("First call, with curl"), _curl(agent)),
        Snippet(_("In a terminal, with cm"), _cm(agent)),
        Snippet("Claude Code", _claude_code()),
        Snippet(_("Cursor, and most clients of MCP"), _mcp("mcpServers")),
        Snippet("VS Code (.vscode/mcp.json)", _mcp("servers")),
    ]


def first_page() -> str:
    """The page that the first post belongs to."""
    return f"{settings.BASE_URL}/demo/"


def _curl(agent: Agent) -> str:
    """Without the scope for posts: who am I."""
    bearer = f"Authorization: Bearer {PLACEHOLDER}"
    if Scope.POST not in agent.scopes:
        return f"curl -s {settings.BASE_URL}/v1/agent/self -H '{bearer}'"
    body = {"pageId": normalize_url(url=first_page()).page_id, "content": "Hello from an agent."}
    if agent.community_ids:
        body["communityId"] = str(agent.community_ids[0])
    return (
        f"curl -s {settings.BASE_URL}/api/messages \\\n"
        f"  -H '{bearer}' \\\n"
        f"  -H 'Content-Type: application/json' -H 'Idempotency-Key: first-post' \\\n"
        f"  -d {shlex.quote(json.dumps(body))}"
    )


def _cm(agent: Agent) -> str:
    """`cm login --token` asks for the token: an argument could be read by other users of the machine."""
    lines = [install_command(), f"export CM_URL={settings.BASE_URL}", "cm login --token", "cm whoami"]
    if Scope.POST in agent.scopes:
        community = f" --community {agent.community_ids[0]}" if agent.community_ids else ""
        lines.append(f'cm post {first_page()} "Hello from a terminal."{community}')
    return "\n".join(lines)


def _claude_code() -> str:
    return (
        f"claude mcp add --transport http {SERVER} {settings.BASE_URL}/mcp \\\n"
        f'  --header "Authorization: Bearer {PLACEHOLDER}"'
    )


def _mcp(key: str) -> str:
    server = {
        "type": "http",
        "url": f"{settings.BASE_URL}/mcp",
        "headers": {"Authorization": f"Bearer {PLACEHOLDER}"},
    }
    return json.dumps({key: {SERVER: server}}, indent=2)
