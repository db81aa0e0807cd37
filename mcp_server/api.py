"""The operations of the API as tools call them: by subrequests, with the credential of the MCP request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from typing import Any

import orjson

from kernel.api import subrequests
from kernel.api.context import ApiHttpRequest
from kernel.api.credentials import Credential
from kernel.database.sql import database_now
from kernel.writes import idempotency
from kernel.writes.idempotency import IdempotencyKey
from kernel.writes.models import StoredResponse

# For so long a repeated call without a key is taken for a retry.
DERIVED_KEY_SECONDS = 600


class RefusedByApi(Exception):
    """The body of a refusal, in the words of the API."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(body.get("error"))
        self.body = body


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful response. `headers` are those of the HTTP response."""

    json: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def is_replayed(self) -> bool:
        return "Idempotent-Replayed" in self.headers


@dataclass(frozen=True, slots=True)
class Api:
    request: ApiHttpRequest

    @property
    def credential(self) -> Credential:
        return self.request.api.credential

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """The body of a read; parameters that are None are not sent."""
        sent = {name: value for name, value in query.items() if value is not None}
        return self.send("GET", path, query=sent).json

    def send(self, method: str, path: str, **parts: Any) -> Answer:
        """Raises RefusedByApi for any status but success."""
        response = subrequests.send(self.request, method, path, **parts)
        content = orjson.loads(response.content)  # type: ignore[attr-defined]
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            raise RefusedByApi(content)
        return Answer(content, response.headers)

    def derived_key(self, method: str, path: str, body: Any = None) -> str:
        """The key of a write whose client sent none: the same for DERIVED_KEY_SECONDS."""
        key = f"mcp-{sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()}"
        named = IdempotencyKey.named(method, path, key)
        idempotency.forget(named, account_id=self.credential.user.pk, seconds=DERIVED_KEY_SECONDS)
        return key

    def has_stored(self, method: str, path: str, key: str) -> bool:
        """Whether a write of the account was answered under this key."""
        rows = IdempotencyKey.named(method, path, key).row_macs(self.credential.user.pk)
        return StoredResponse.objects.filter(key_mac__in=rows).exists()

    def renew_derived_key(self, method: str, path: str, key: str) -> None:
        """Let DERIVED_KEY_SECONDS begin again, since the write has been repeated under the key after this one."""
        rows = IdempotencyKey.named(method, path, key).row_macs(self.credential.user.pk)
        StoredResponse.objects.filter(key_mac__in=rows).update(created_at=database_now())


def next_key(key: str, post_id: str) -> str:
    """The key of a write that repeats one whose post is gone or edited: the same for every call that finds this."""
    return f"mcp-{sha256(f'{key} {post_id}'.encode()).hexdigest()}"
