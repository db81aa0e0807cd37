"""Visitor hashes: stable for one embed and one day; unlinkable to a person once the salt of the day is deleted."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import date
from functools import partial
from uuid import UUID

from django.db import connection, transaction

SALT_BYTES = 32
HASH_BYTES = 16

INSERT = "INSERT INTO embeds_dailysalt (day, salt) VALUES (%s, %s) ON CONFLICT DO NOTHING"
SELECT = "SELECT salt FROM embeds_dailysalt WHERE day = %s"

# At most one entry: a process that runs past midnight must drop the salt of yesterday.
cached: dict[date, bytes] = {}


def visitor_hash(*, day: date, embed_id: UUID, address: str, user_agent: str) -> bytes:
    """Return 16 bytes that identify a reader of one embed on one day."""
    visitor = b"\n".join((embed_id.bytes, address.encode(), user_agent.encode()))
    return hmac.digest(salt_of(day), visitor, hashlib.sha256)[:HASH_BYTES]


def salt_of(day: date) -> bytes:
    """Return the salt of a day; the first call creates it. A process caches it after the commit."""
    if (salt := cached.get(day)) is not None:
        return salt
    with connection.cursor() as cursor:
        # Two statements: the second sees a salt that another process committed while the first waited for its lock.
        cursor.execute(INSERT, [day, secrets.token_bytes(SALT_BYTES)])
        cursor.execute(SELECT, [day])
        salt = bytes(cursor.fetchone()[0])
    transaction.on_commit(partial(_cache, day, salt))
    return salt


def _cache(day: date, salt: bytes) -> None:
    cached.clear()
    cached[day] = salt
