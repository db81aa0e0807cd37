"""The operations of the API as tools call them: by subrequests, with the credential of the MCP request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from typing import Any

import orjson
from django.http import HttpRequest
from django_mcpz.server import ToolError

from config.api import subrequests
from config.api.credentials import Credential
from config.writes import idempotency
from config.writes.idempotency import IdempotencyKey

# For so long a repeated call without a key is taken for a retry.
DERIVED_KEY_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful response. `headers` are those of the HTTP response."""

    json: dict[str, Any]
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Api:
    request: HttpRequest

    @property
    def credential(self) -> Credential:
        credential: Credential = self.request.auth  # type: ignore[attr-defined]
        return credential

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """The body of a read; parameters that are None are not sent."""
        sent = {name: value for name, value in query.items() if value is not None}
        return self.send("GET", path, query=sent).json

    def send(self, method: str, path: str, **parts: Any) -> Answer:
        """Raises ToolError with the body of the refusal for any status but success."""
        response = subrequests.send(self.request, method, path, **parts)
        content: bytes = response.content  # type: ignore[attr-defined]
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            raise ToolError(content.decode())
        return Answer(orjson.loads(content), response.headers)

    def send_once(self, method: str, path: str, *, body: Any = None, key: str | None) -> Answer:
        """Send a write that must not happen twice if the client repeats its call.

        Without a key of the client, the key is derived from the request, and holds for DERIVED_KEY_SECONDS.
        """
        if key is None:
            key = f"mcp-{sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()}"
            named = IdempotencyKey.named(method, path, key)
            idempotency.forget(named, account_id=self.credential.user.pk, seconds=DERIVED_KEY_SECONDS)
        return self.send(method, path, body=body, key=key)
