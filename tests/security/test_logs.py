"""The log of a running service contains no credential, no line per refused call and no line injected by a client."""

from __future__ import annotations

from contextlib import suppress
from http.client import HTTPException

import psycopg
import pytest

from tests.clients import PASSWORD, Clients, Person
from tests.remote import Remote
from tests.service import Service, running_service

pytestmark = [pytest.mark.slow, pytest.mark.processes]


def test_log_contains_no_credential_and_no_refused_call() -> None:
    with running_service() as service:
        clients = Clients(service)
        person = clients.person()
        token = clients.agent_token(person)
        before = len(service.said().splitlines())
        send_refused_calls(service.port)
        added = len(service.said().splitlines()) - before
        cause_failures(service, person, token)
        output = service.said() + (service.cluster.folder / "log").read_text()
    assert added == 0
    assert "PostgreSQL does not serve" in output, "the failures were not logged"
    for secret in (token, token[4:], *tokens_of(person), PASSWORD):
        assert secret not in output
    assert "injected line" not in output


def send_refused_calls(port: int) -> None:
    """Seventy refused calls of seven kinds."""
    remote, too_many = Remote(port), "&".join(f"a{n}=1" for n in range(1_100))
    for _ in range(10):
        remote.call("GET", "/nowhere")
        remote.call("POST", "/v1/reactions", {})
        remote.call("GET", "/v1/smart-tags", Host="evil.example")
        remote.call("GET", f"/api/messages?{too_many}")
        remote.call("POST", "/admin/login/", {})
        remote.call("PUT", "/embed/panel", {})
        with suppress(OSError, HTTPException):
            remote.call("GET", "/v1/a%0ainjected line".replace(" ", "%20"))


def cause_failures(service: Service, person: Person, token: str) -> None:
    """Failures of calls with credentials, in the URL too."""
    with psycopg.connect(service.cluster.url, autocommit=True) as connection:
        connection.execute("ALTER TABLE messaging_message RENAME TO away")
        call_with_every_credential(service.port, person, token)
        connection.execute("ALTER TABLE away RENAME TO messaging_message")
    service.cluster.stop("immediate")
    call_with_every_credential(service.port, person, token)
    service.cluster.start()


def call_with_every_credential(port: int, person: Person, token: str) -> None:
    remote, body = Remote(port), {"pageId": "p1_" + "a" * 32, "content": token}
    for headers in ({"Authorization": f"Bearer {token}"}, person.user, person.signed_in):
        remote.call("POST", "/api/messages", body, **headers)
        remote.call("GET", f"/api/messages?pageId={token}&access_token={token}", **headers)
        remote.call("GET", f"/v1/reactions/{token}", **headers)
    remote.call("POST", "/api/auth/login", {"handle": person.handle, "password": PASSWORD})


def tokens_of(person: Person) -> list[str]:
    return [headers["Authorization"].removeprefix("Bearer ") for headers in (person.user, person.signed_in)]
