"""Idempotency-Key: the first 2xx answer is kept seven days and replayed, byte for byte.

Key lock, look-up, write and stored answer share one transaction, so they commit or vanish together; a dead process
frees its lock by itself. The lock is taken in a statement of its own: the look-up must see what the call before it
committed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings

from config.api import crypto
from config.api.errors import IdempotencyKeyReused, InvalidIdempotencyKey
from config.api.sql import Row, execute

KEY_MAX = 160
PRINTABLE = re.compile(rf"[\x20-\x7e]{{1,{KEY_MAX}}}\Z")
KEPT_DAYS = 7

# Part of the statements that open a unit of work. Not `= ANY(array)`: PostgreSQL does not know the length of an array
# and would plan anew at each call.
FIND = f"""
SELECT key_mac, body_mac, status, location, sealed FROM api_storedresponse
WHERE key_mac IN (%(key_mac)s, %(previous_key_mac)s) AND created_at > clock_timestamp() - interval '{KEPT_DAYS} days'
"""  # noqa: S608  made of constants
STORE = """
INSERT INTO api_storedresponse (key_mac, body_mac, status, location, sealed, created_at)
VALUES (%s, %s, %s, %s, %s, clock_timestamp())
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
class KeyedWrite:
    """One write under an Idempotency-Key. `scope` is account, method and path; the key counts only inside it."""

    scope: bytes
    key: bytes
    body: bytes

    @classmethod
    def of(cls, *, account_id: UUID, method: str, path: str, key: str, data: Any) -> KeyedWrite:
        """Raises InvalidIdempotencyKey unless `key` is 1 to 160 printable ASCII characters."""
        if not PRINTABLE.match(key):
            raise InvalidIdempotencyKey(max=KEY_MAX)
        scope = f"{account_id}\n{method} {path}\n".encode()
        return cls(scope=scope, key=key.encode(), body=orjson.dumps(data, option=orjson.OPT_SORT_KEYS))

    @property
    def values(self) -> dict[str, Any]:
        """The number its lock bears, and the MACs its row may be kept under (two during a rotation of the root key)."""
        macs = [self._mac(root) for root in crypto.root_keys()]
        number = int.from_bytes(sha256(self.scope + self.key).digest()[:8], "big", signed=True)
        return {"key_lock": number, "key_mac": macs[0], "previous_key_mac": macs[-1]}

    def replay_of(self, row: Row) -> Replay | None:
        """From a row of FIND; raises IdempotencyKeyReused (422) where that is wanted of another body."""
        key_mac, body_mac, status, location, sealed = row
        root = next(root for root in crypto.root_keys() if self._mac(root) == key_mac)
        body = crypto.unseal(root, self.scope + self.key, bytes(sealed))
        return None if body is None else self._replay(status, body, location, bytes(body_mac) == self._body_mac(root))

    def store(self, *, status: int, body: bytes, location: str) -> None:
        """Keep the answer; a row that is too old to be replayed gives way."""
        root = next(crypto.root_keys())
        sealed = crypto.seal(root, self.scope + self.key, body)
        execute(STORE, [self._mac(root), self._body_mac(root), status, location, sealed])

    def _replay(self, status: int, body: bytes, location: str, same_body: bool) -> Replay:
        if not same_body and settings.IDEMPOTENCY_MISMATCH == "reject":
            raise IdempotencyKeyReused
        return Replay(status=status, body=body, location=location, mismatch=not same_body)

    def _mac(self, root: str) -> bytes:
        return crypto.mac(root, "idempotency-key", self.scope + self.key)

    def _body_mac(self, root: str) -> bytes:
        return crypto.mac(root, "idempotency-body", self.body)
