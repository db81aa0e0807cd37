"""Creates people and agents of a running service through its API and its commands."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import count
from secrets import token_hex
from typing import Any

from tests.remote import Remote, Reply
from tests.service import ROOT, Service

PASSWORD = "a long enough passphrase"
REQUESTS = "/v1/agent-tokens/requests"
EVERY_SCOPE = ["post", "reply", "quote", "react"]
_numbers = count(1)
# The databases of benchmarks outlive a run.
_run = token_hex(3)


@dataclass(frozen=True, slots=True)
class Person:
    """A person with the headers of both kinds of token."""

    id: str
    handle: str
    signed_in: dict[str, str]
    user: dict[str, str]


@dataclass(slots=True)
class Clients:
    """Creates clients of a running service. They count against its soft throttle of sign-ins."""

    service: Service
    port: int = 0
    _super_admin: Person | None = None
    _remote: Remote = field(init=False)

    def __post_init__(self) -> None:
        self._remote = Remote(self.port or self.service.port)

    def person(self) -> Person:
        handle = f"person_{_run}_{next(_numbers)}"
        session = self.ask("/api/auth/register", {"handle": handle, "name": handle, "password": PASSWORD})
        return self._with_user_token(session)

    def super_admin(self) -> Person:
        if self._super_admin is None:
            handle = f"super_{_run}_{next(_numbers)}"
            self.manage("create_person", handle, "--super-admin", "--password", PASSWORD)
            session = self.ask("/api/auth/login", {"handle": handle, "password": PASSWORD})
            self._super_admin = self._with_user_token(session)
        return self._super_admin

    def agent_token(self, operator: Person | None = None, **fields: Any) -> str:
        """A token of a new, approved agent. `fields` override those of an agent request for every scope."""
        operator = operator or self.person()
        request_id = self.approved_request(operator, **fields)
        token: str = self.ask(f"{REQUESTS}/{request_id}/token", {}, **operator.user)["token"]
        return token

    def approved_request(self, operator: Person, **fields: Any) -> str:
        number = next(_numbers)
        request = {
            "agentName": f"Agent {number}",
            "agentHandle": f"agent_{number}",
            "purpose": "Takes part in a test of this service.",
            "scopes": EVERY_SCOPE,
        }
        request_id: str = self.ask(REQUESTS, request | fields, **operator.user)["id"]
        self.ask(f"{REQUESTS}/{request_id}/approve", {}, **self.super_admin().user)
        return request_id

    def page_id(self, url: str) -> str:
        page_id: str = self.ask("/v1/presence/normalize-url", {"url": url})["pageId"]
        return page_id

    def _with_user_token(self, session: dict[str, Any]) -> Person:
        signed_in = bearer(session["accessToken"])
        issued = self.ask("/api/auth/embed-token", {}, **signed_in)
        user = bearer(issued["token"]) | {"X-User-Id": issued["userId"]}
        return Person(issued["userId"], session["user"]["handle"], signed_in, user)

    def ask(self, path: str, body: Any, *, accepted: Collection[Any] = (200, 201), **headers: str) -> Any:
        # The service closes a connection that is idle for some seconds, as between two calls on a busy machine.
        self.reconnect()
        reply: Reply = self._remote.call("POST", path, body, **headers)
        assert reply.status in accepted, (path, reply)
        return reply.json

    def reconnect(self) -> None:
        """Use another connection: the service may have closed this one, if nothing was sent for some seconds."""
        self._remote.close()

    def manage(self, *arguments: str) -> None:
        self.reconnect()
        command = [sys.executable, "manage.py", *arguments]
        subprocess.run(command, cwd=ROOT, env=self.service.environment, check=True, stdout=subprocess.DEVNULL)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
