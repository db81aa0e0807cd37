"""Idempotency-Key: the first 2xx response is stored for seven days and replayed byte for byte.

Key lock, query, write and stored response share one transaction (`kernel.writes.transaction`): they commit or roll back
together, and the lock of a process that dies is released. The statement that fetches an agent token also fetches,
without a lock, a response that is already committed; such a retry opens no transaction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from kernel.api import signing
from kernel.api.context import ApiContext
from kernel.api.exceptions import IdempotencyKeyReused, InvalidIdempotencyKey
from kernel.api.operations import IDEMPOTENCY_KEY_MAX
from kernel.api.requests import JSON_TYPE, LINK
from kernel.database.sql import Row, execute
from kernel.metrics.definitions import replays

PRINTABLE = re.compile(rf"[\x20-\x7e]{{1,{IDEMPOTENCY_KEY_MAX}}}\Z")
# A string of a structured field (RFC 9651, section 3.3.3).
QUOTED = re.compile(r'"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"\Z')
ESCAPED = re.compile(r'\\(["\\])')
# `api_open_unit` contains the same number.
STORED_DAYS = 7
# Of the key that stored responses are encrypted under.
PURPOSE = "stored-response"

# The row of an account's key: part of the statement that fetches an agent token, where `account` is the agent's.
# `api_open_unit` has the same query.
COLUMNS = ("key_mac", "body_mac", "status", "location", "sealed")
WIDTH = len(COLUMNS)
OF_ACCOUNT = f"""
SELECT {", ".join(COLUMNS)} FROM api_storedresponse
WHERE key_mac IN (sha256(uuid_send(account.id) || %(key)s), sha256(uuid_send(account.id) || %(previous_key)s))
    AND created_at > clock_timestamp() - interval '{STORED_DAYS} days'
ORDER BY created_at LIMIT 1
"""  # noqa: S608  consists of constants
FORGET = """
DELETE FROM api_storedresponse
WHERE key_mac = ANY(%(rows)s) AND created_at < clock_timestamp() - make_interval(secs => %(seconds)s)
"""
# A row that is too old for a replay is replaced.
STORE = """
INSERT INTO api_storedresponse (key_mac, body_mac, status, location, sealed, created_at)
VALUES (%(stored_key)s, %(stored_body)s, %(stored_status)s, %(stored_location)s, %(stored_sealed)s, clock_timestamp())
ON CONFLICT (key_mac) DO UPDATE SET body_mac = excluded.body_mac, status = excluded.status,
    location = excluded.location, sealed = excluded.sealed, created_at = excluded.created_at
"""


@dataclass(frozen=True, slots=True)
class Replay:
    """A stored response. `mismatch`: it belongs to another request body."""

    status: int
    body: bytes
    location: str
    mismatch: bool

    def response(self) -> HttpResponse:
        replays.labels("no" if self.mismatch else "yes").inc()
        response = HttpResponse(self.body, status=self.status, content_type=JSON_TYPE)
        response.headers["Link"] = LINK
        response.headers["Idempotent-Replayed"] = "true"
        if self.location:
            response.headers["Location"] = self.location
        if self.mismatch:
            response.headers["Idempotency-Payload-Mismatch"] = "true"
        return response


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """An Idempotency-Key with its method and path, before the account is known.

    `macs`: under the current root key and, during a rotation, under the previous one.
    """

    text: bytes
    macs: tuple[bytes, ...]

    @classmethod
    def of(cls, request: HttpRequest) -> IdempotencyKey | None:
        """None without the header."""
        key = sent_key(request)
        return None if key is None else cls.named(request.method or "", request.path, key)

    @classmethod
    def named(cls, method: str, path: str, key: str) -> IdempotencyKey:
        text = f"{method} {path}\n{key}".encode()
        return cls(text, tuple(signing.mac(root, "idempotency-key", text) for root in signing.root_keys()))

    def row_macs(self, account_id: UUID) -> list[bytes]:
        """The possible primary keys of the account's row."""
        return [sha256(account_id.bytes + mac).digest() for mac in self.macs]


def sent_key(request: HttpRequest) -> str | None:
    """The Idempotency-Key of a request. The IETF draft writes it as a string in quotes, most clients without them."""
    key: str | None = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if key is None or not QUOTED.match(key):
        return key
    return ESCAPED.sub(r"\1", key[1:-1])


def look_up(key: IdempotencyKey | None) -> dict[str, Any]:
    """The parameters of OF_ACCOUNT."""
    return {"key": key and key.macs[0], "previous_key": key and key.macs[-1]}


def forget(key: IdempotencyKey, *, account_id: UUID, seconds: int) -> None:
    """Delete a response that was stored more than `seconds` ago, so that its key may be used for another write."""
    execute(FORGET, {"rows": key.row_macs(account_id), "seconds": seconds})


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """A write of an account with an Idempotency-Key."""

    account_id: UUID
    key: IdempotencyKey
    body: bytes

    @classmethod
    def of(cls, api: ApiContext, *, account_id: UUID) -> IdempotentRequest | None:
        """None without a key; raises InvalidIdempotencyKey unless it is 1 to 160 printable ASCII characters."""
        key = api.key or IdempotencyKey.of(api.request)
        if key is None:
            return None
        if not PRINTABLE.match(sent_key(api.request) or ""):
            raise InvalidIdempotencyKey(max=IDEMPOTENCY_KEY_MAX)
        return cls(account_id, key, orjson.dumps(api.body, option=orjson.OPT_SORT_KEYS))

    @property
    def values(self) -> dict[str, Any]:
        """The number of the advisory lock, and the possible primary keys of the row."""
        number = int.from_bytes(sha256(self._scope).digest()[:8], "big", signed=True)
        rows = self.key.row_macs(self.account_id)
        return {"key_lock": number, "row": rows[0], "previous_row": rows[-1]}

    def replay_of(self, row: Row) -> Replay | None:
        """From a row of COLUMNS; raises IdempotencyKeyReused (422) for another body if the setting is `reject`."""
        key_mac, body_mac, status, location, encrypted = row
        rows = self.key.row_macs(self.account_id)
        root = next(root for root, mac in zip(signing.root_keys(), rows, strict=True) if mac == key_mac)
        body = signing.decrypt(root, PURPOSE, self._scope, bytes(encrypted))
        if body is None:
            return None
        mismatch = bytes(body_mac) != self._body_mac(root)
        if mismatch and settings.IDEMPOTENCY_MISMATCH == "reject":
            raise IdempotencyKeyReused
        return Replay(status, body, location, mismatch)

    def to_row(self, response: HttpResponse) -> dict[str, Any]:
        """The parameters of STORE."""
        root = next(signing.root_keys())
        return {
            "stored_key": self.key.row_macs(self.account_id)[0],
            "stored_body": self._body_mac(root),
            "stored_status": response.status_code,
            "stored_location": response.headers.get("Location", ""),
            "stored_sealed": signing.encrypt(root, PURPOSE, self._scope, response.content),
        }

    @property
    def _scope(self) -> bytes:
        return self.account_id.bytes + self.key.text

    def _body_mac(self, root: str) -> bytes:
        return signing.mac(root, "idempotency-body", self.body)
