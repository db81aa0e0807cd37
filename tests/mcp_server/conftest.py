from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mcp_server.running import McpEndpoint, running_mcp


@pytest.fixture(scope="module")
def mcp_endpoint() -> Iterator[McpEndpoint]:
    with running_mcp() as endpoint:
        yield endpoint
