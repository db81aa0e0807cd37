"""A running service with an agent, for MCP clients that nobody here wrote."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.clients import Clients
from tests.service import Service, running_service


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """`url` and `token` are all that a client needs."""

    url: str
    token: str
    service: Service
    clients: Clients

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@contextmanager
def running_mcp(**environment: str) -> Iterator[McpEndpoint]:
    """A service of two workers, and the token of an agent with every scope."""
    with running_service(WORKERS="2", **environment) as service:
        clients = Clients(service)
        yield McpEndpoint(f"{service.base_url}/mcp", clients.agent_token(), service, clients)
