"""A service with its stream process, one for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients import Clients
from tests.faults.environment import SETTINGS
from tests.service import Service, running_service
from tests.streams.posting import Poster

# The tests sign in and post often, and open streams for many addresses behind one proxy.
ENVIRONMENT = SETTINGS | {
    "STREAMS": "1",
    "STREAM_HEARTBEAT_SECONDS": "1",
    "TRUSTED_PROXIES": "127.0.0.1",
    "METRICS_ALLOWED": "127.0.0.1",
}


TERMINATE = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
    "pg_backend_pid() AND backend_type = 'client backend'"
)


@pytest.fixture(scope="session")
def stream_service() -> Iterator[Service]:
    with running_service(**ENVIRONMENT) as service:
        yield service


@pytest.fixture(scope="session")
def all_clients(stream_service: Service) -> Clients:
    """One for all tests: a super admin is created by a command."""
    return Clients(stream_service)


@pytest.fixture
def clients(all_clients: Clients) -> Clients:
    all_clients.reconnect()
    return all_clients


@pytest.fixture
def poster(clients: Clients) -> Poster:
    """Posts to a page of its own."""
    return Poster.new(clients)


@pytest.fixture
def _connections_closed() -> Iterator[None]:
    """The threads of a hub live on; the test database could not be emptied while they have connections."""
    # Here, because this file is read before the settings can be.
    from kernel.database.sql import execute

    yield
    execute(TERMINATE)
