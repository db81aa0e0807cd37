"""A client of the API for tests. Every response is validated against the OpenAPI document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import orjson
from django.test.client import Client, ClientHandler

from kernel.api.jwt import issue_user_token
from messaging.accounts.sessions import start_session
from messaging.models import Account
from tests.openapi import check_answer

NOTHING = object()

# One middleware chain for all clients: building it costs more than most requests.
HANDLER = ClientHandler(enforce_csrf_checks=False)
HANDLER.load_middleware()
# The parts of a refusal that `tests/config_api/test_refusals.py` checks for all of them.
TEXTS = {"message", "requestId", "docs", "details"}


def refusal_of(body: bytes) -> dict[str, Any]:
    """The code and the fields of a refusal, without its texts."""
    return {name: value for name, value in orjson.loads(body).items() if name not in TEXTS}


@dataclass(slots=True)
class Answer:
    status: int
    body: bytes
    headers: Any

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def error(self) -> Any:
        return self.json.get("error")

    @property
    def refusal(self) -> dict[str, Any]:
        return refusal_of(self.body)


@dataclass(slots=True)
class Api:
    """`Api()` sends no credential; `as_agent`, `as_person` and `as_signed_in` send the three kinds."""

    credentials: dict[str, str] = field(default_factory=dict)

    @classmethod
    def as_agent(cls, token: str) -> Api:
        return cls({"Authorization": f"Bearer {token}"})

    @classmethod
    def as_person(cls, account: Account) -> Api:
        token = str(issue_user_token(account))
        return cls({"Authorization": f"Bearer {token}", "X-User-Id": str(account.pk)})

    @classmethod
    def as_signed_in(cls, account: Account) -> Api:
        return cls({"Authorization": f"Bearer {start_session(account=account).access}"})

    def get(self, path: str, headers: dict[str, str] | None = None, **query: Any) -> Answer:
        url = f"{path}?{urlencode(query, doseq=True)}" if query else path
        return self.send("GET", url, headers=headers)

    def post(self, path: str, body: Any = NOTHING, *, key: str | None = None, **options: Any) -> Answer:
        return self.send("POST", path, body, key=key, **options)

    def put(self, path: str, body: Any = NOTHING, *, key: str | None = None, **options: Any) -> Answer:
        return self.send("PUT", path, body, key=key, **options)

    def delete(self, path: str, *, key: str | None = None, **options: Any) -> Answer:
        return self.send("DELETE", path, key=key, **options)

    def send(
        self,
        method: str,
        path: str,
        body: Any = NOTHING,
        *,
        key: str | None = None,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
        content_type: str = "application/json",
        address: str = "127.0.0.1",
    ) -> Answer:
        """Send `raw` unchanged, or `body` as JSON."""
        data = raw if raw is not None else b"" if body is NOTHING else orjson.dumps(body)
        sent = self.credentials | (headers or {}) | ({} if key is None else {"Idempotency-Key": key})
        client = Client()
        client.handler = HANDLER
        response = client.generic(method, path, data, content_type=content_type, headers=sent, REMOTE_ADDR=address)
        content = b"".join(response) if response.streaming else response.content
        check_answer(
            method, path, response.status_code, response.headers.get("Content-Type", ""), content, response.headers
        )
        return Answer(response.status_code, content, response.headers)
