"""A service with its stream process for the Python client and the command `cm`, one for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import keyring
import pytest
from community_messaging import Client
from httpx._transports import default
from keyring.backends.fail import Keyring as NoKeyring

from tests.clients import Clients
from tests.service import Service, running_service

# The tests sign in and post often.
ENVIRONMENT = {
    "STREAMS": "1",
    "STREAM_HEARTBEAT_SECONDS": "1",
    "THROTTLE_PERSON_PER_HOUR": "1000000",
    "THROTTLE_REGISTER_PER_MINUTE": "1000000",
    "THROTTLE_SIGN_IN_PER_MINUTE": "1000000",
}


@pytest.fixture(autouse=True, scope="session")
def _one_tls_context() -> Iterator[None]:
    """Each client would read the certificates of all authorities, which takes 20 ms; no test uses TLS."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(default, "create_ssl_context", cache(httpx.create_ssl_context))
        yield


@pytest.fixture(autouse=True)
def no_keyring() -> None:
    """A process chooses its keyring once, and might choose a class of a test."""
    keyring.set_keyring(NoKeyring())


@pytest.fixture(scope="session")
def client_service() -> Iterator[Service]:
    with running_service(**ENVIRONMENT) as service:
        yield service


@pytest.fixture(scope="session")
def all_clients(client_service: Service) -> Clients:
    """One for all tests: a super admin is created by a command."""
    return Clients(client_service)


@pytest.fixture
def clients(all_clients: Clients) -> Clients:
    all_clients.reconnect()
    return all_clients


@pytest.fixture
def agent(client_service: Service, clients: Clients) -> Iterator[Client]:
    """A client of a new agent with every scope. Each of its requests is compared with the OpenAPI document."""
    from tests.client.checked import checked_http  # Here: this file is read before the settings can be.

    with checked_http() as http:
        yield Client(client_service.base_url, clients.agent_token(), http=http)


@pytest.fixture
def person(client_service: Service) -> Iterator[Client]:
    """A client that has not signed in."""
    from tests.client.checked import checked_http  # Here: this file is read before the settings can be.

    with checked_http() as http:
        yield Client(client_service.base_url, http=http)


@pytest.fixture
def cm(tmp_path: Path, client_service: Service, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command of a user who has not signed in."""
    from tests.client.commands import Command

    monkeypatch.delenv("CM_TOKEN", raising=False)
    return Command(tmp_path / "config", client_service.base_url)


@pytest.fixture
def agent_cm(cm: Any, clients: Clients) -> Any:
    """The command of a user with the token of a new agent."""
    cm.variables["CM_TOKEN"] = clients.agent_token()
    return cm
