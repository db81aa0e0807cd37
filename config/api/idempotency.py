"""Idempotency-Key: the first 2xx answer is kept seven days and replayed, byte for byte.

Key lock, look-up, write and stored answer share one transaction (`config.api.unit`), so they commit or vanish together;
a dead process frees its lock by itself. What was committed before the call came in is seen without a lock: its agent's
token is looked up together with the answer kept for it, and a retry needs no transaction.
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

from config.api import crypto
from config.api.errors import IdempotencyKeyReused, InvalidIdempotencyKey
from config.api.sql import Row

KEY_MAX = 160
PRINTABLE = re.compile(rf"[\x20-\x7e]{{1,{KEY_MAX}}}\Z")
# `api_open_unit` knows it as well.
KEPT_DAYS = 7

# The row of one account's key, part of the statement that finds an agent's token (`account` there is the agent's);
# `api_open_unit` looks for the same.
COLUMNS = ("key_mac", "body_mac", "status", "location", "sealed")
WIDTH = len(COLUMNS)
OF_ACCOUNT = f"""
SELECT {", ".join(COLUMNS)} FROM api_storedresponse
WHERE key_mac IN (sha256(uuid_send(account.id) || %(key)s), sha256(uuid_send(account.id) || %(previous_key)s))
    AND created_at > clock_timestamp() - interval '{KEPT_DAYS} days'
ORDER BY created_at LIMIT 1
"""  # noqa: S608  made of constants
# A row that is too old to be replayed gives way.
STORE = """
INSERT INTO api_storedresponse (key_mac, body_mac, status, location, sealed, created_at)
VALUES (%(kept_key)s, %(kept_body)s, %(kept_status)s, %(kept_location)s, %(kept_sealed)s, clock_timestamp())
ON CONFLICT (key_mac) DO UPDATE SET body_mac = excluded.body_mac, status = excluded.status,
    location = excluded.location, sealed = excluded.sealed, created_at = excluded.created_at
"""


@dataclass(frozen=True, slots=True)
class Replay:
    """A stored answer, as it was given the first time. `mismatch`: it came with another body then."""

    status: int
    body: bytes
    location: str
    mismatch: bool


@dataclass(frozen=True, slots=True)
class Key:
    """An Idempotency-Key, with the method and path it counts for, before it is known for whose account.

    `macs`: under the current root key and, during a rotation, under the previous one.
    """

    text: bytes
    macs: tuple[bytes, ...]

    @classmethod
    def of(cls, request: HttpRequest) -> Key | None:
        """None where none was sent. The same for the token's look-up and for the write."""
        if not hasattr(request, "idempotency_key"):
            request.idempotency_key = cls._of(request)  # type: ignore[attr-defined]
        held: Key | None = request.idempotency_key  # type: ignore[attr-defined]
        return held

    @classmethod
    def _of(cls, request: HttpRequest) -> Key | None:
        key = request.META.get("HTTP_IDEMPOTENCY_KEY")
        if key is None:
            return None
        text = f"{request.method} {request.path}\n{key}".encode()
        return cls(text, tuple(crypto.mac(root, "idempotency-key", text) for root in crypto.root_keys()))


def look_up(key: Key | None) -> dict[str, Any]:
    """The parameters of OF_ACCOUNT."""
    return {"key": key and key.macs[0], "previous_key": key and key.macs[-1]}


@dataclass(frozen=True, slots=True)
class KeyedWrite:
    """One write of an account under a key."""

    account_id: UUID
    key: Key
    body: bytes

    @classmethod
    def of(cls, *, account_id: UUID, request: HttpRequest, data: Any) -> KeyedWrite | None:
        """None without a key; raises InvalidIdempotencyKey unless it is 1 to 160 printable ASCII characters."""
        key = Key.of(request)
        if key is None:
            return None
        if not PRINTABLE.match(request.META["HTTP_IDEMPOTENCY_KEY"]):
            raise InvalidIdempotencyKey(max=KEY_MAX)
        return cls(account_id, key, orjson.dumps(data, option=orjson.OPT_SORT_KEYS))

    @property
    def values(self) -> dict[str, Any]:
        """The number its lock bears, and what its row may be kept under."""
        number = int.from_bytes(sha256(self._scope).digest()[:8], "big", signed=True)
        rows = self._row_macs
        return {"key_lock": number, "row": rows[0], "previous_row": rows[-1]}

    def replay_of(self, row: Row) -> Replay | None:
        """From the COLUMNS of its row; raises IdempotencyKeyReused (422) where that is wanted of another body."""
        key_mac, body_mac, status, location, sealed = row
        root = next(root for root, mac in zip(crypto.root_keys(), self._row_macs, strict=True) if mac == key_mac)
        body = crypto.unseal(root, self._scope, bytes(sealed))
        return None if body is None else self._replay(status, body, location, bytes(body_mac) == self._body_mac(root))

    def kept_as(self, answer: HttpResponse) -> dict[str, Any]:
        """The parameters of STORE."""
        root = next(crypto.root_keys())
        return {
            "kept_key": self._row_macs[0],
            "kept_body": self._body_mac(root),
            "kept_status": answer.status_code,
            "kept_location": answer.headers.get("Location", ""),
            "kept_sealed": crypto.seal(root, self._scope, answer.content),
        }

    def _replay(self, status: int, body: bytes, location: str, same_body: bool) -> Replay:
        if not same_body and settings.IDEMPOTENCY_MISMATCH == "reject":
            raise IdempotencyKeyReused
        return Replay(status=status, body=body, location=location, mismatch=not same_body)

    @property
    def _scope(self) -> bytes:
        return self.account_id.bytes + self.key.text

    @property
    def _row_macs(self) -> list[bytes]:
        return [sha256(self.account_id.bytes + mac).digest() for mac in self.key.macs]

    def _body_mac(self, root: str) -> bytes:
        return crypto.mac(root, "idempotency-body", self.body)
