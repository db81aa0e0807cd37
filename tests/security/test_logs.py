"""What the running service writes down: no credential, no line for a refusal, no line that a client made up."""

from __future__ import annotations

from contextlib import suppress
from http.client import HTTPException

import psycopg

from tests.clients import PASSWORD, Clients, Person
from tests.remote import Remote
from tests.service import Service, running_service


def test_logs_hold_no_credential_and_no_flood() -> None:
    with running_service() as service:
        clients = Clients(service)
        person = clients.person()
        token = clients.agent_token(person)
        before = len(service.said().splitlines())
        refused(service.port)
        added = len(service.said().splitlines()) - before
        make_trouble(service, person, token)
        said = service.said() + (service.cluster.folder / "log").read_text()
    assert added == 0
    assert "PostgreSQL does not serve" in said, "there was something to be written down"
    for secret in (token, token[4:], *tokens_of(person), PASSWORD):
        assert secret not in said
    assert "made-up line" not in said


def refused(port: int) -> None:
    """Hundreds of refusals of every sort."""
    remote, too_many = Remote(port), "&".join(f"a{n}=1" for n in range(1_100))
    for _ in range(50):
        remote.call("GET", "/nowhere")
        remote.call("POST", "/v1/reactions", {})
        remote.call("GET", "/v1/smart-tags", Host="evil.example")
        remote.call("GET", f"/api/messages?{too_many}")
        remote.call("POST", "/admin/login/", {})
        remote.call("PUT", "/embed/panel", {})
        with suppress(OSError, HTTPException):
            remote.call("GET", "/v1/a%0amade-up line".replace(" ", "%20"))


def make_trouble(service: Service, person: Person, token: str) -> None:
    """Failures while credentials are at work: in the address too, where nobody should put one."""
    with psycopg.connect(service.cluster.url, autocommit=True) as connection:
        connection.execute("ALTER TABLE messaging_message RENAME TO away")
        call_with_everything(service.port, person, token)
        connection.execute("ALTER TABLE away RENAME TO messaging_message")
    service.cluster.stop("immediate")
    call_with_everything(service.port, person, token)
    service.cluster.start()


def call_with_everything(port: int, person: Person, token: str) -> None:
    remote, body = Remote(port), {"pageId": "p1_" + "a" * 32, "content": token}
    for headers in ({"Authorization": f"Bearer {token}"}, person.user, person.signed_in):
        remote.call("POST", "/api/messages", body, **headers)
        remote.call("GET", f"/api/messages?pageId={token}&access_token={token}", **headers)
        remote.call("GET", f"/v1/reactions/{token}", **headers)
    remote.call("POST", "/api/auth/login", {"handle": person.handle, "password": PASSWORD})


def tokens_of(person: Person) -> list[str]:
    return [headers["Authorization"].removeprefix("Bearer ") for headers in (person.user, person.signed_in)]
