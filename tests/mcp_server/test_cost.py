"""A tool costs its operations, and for each of them one look-up of the token."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.factories import agent_with_token
from tests.factories import MessageFactory
from tests.mcp_server.rpc import Mcp

pytestmark = pytest.mark.django_db
# Tests run in a transaction, in which django-mcpz opens a savepoint and releases it.
SAVEPOINT = 2


@pytest.mark.parametrize(
    ("tool", "arguments", "statements"),
    [("read_page", {}, 2), ("read_post", {}, 1), ("inbox", None, 4), ("reference", {"topic": "limits"}, None)],
)
def test_statements_of_a_read(
    tool: str, arguments: dict[str, Any] | None, statements: int | None, django_assert_max_num_queries: Any
) -> None:
    post = MessageFactory()
    mcp = Mcp(agent_with_token().api)
    if tool == "read_page":
        arguments = {"url": post.page.normalized_url}
    elif tool == "read_post":
        arguments = {"id": str(post.pk)}
    mcp.call(tool, **(arguments or {}))
    # The token of the MCP request, then the token and the statements of the operation.
    tokens = 1 if statements is None else 2
    with django_assert_max_num_queries(tokens + (statements or 0) + SAVEPOINT):
        mcp.call(tool, **(arguments or {}))


def test_listing_tools_costs_the_look_up_of_the_token(django_assert_num_queries: Any) -> None:
    mcp = Mcp(agent_with_token().api)
    mcp.tools()
    with django_assert_num_queries(1):
        mcp.tools()
