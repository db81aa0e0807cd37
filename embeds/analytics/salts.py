"""Visitors as hashes: the same all day on one embed, linkable to nothing else, and to nobody once the salt is gone."""

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

MAKE = "INSERT INTO embeds_dailysalt (day, salt) VALUES (%s, %s) ON CONFLICT DO NOTHING"
READ = "SELECT salt FROM embeds_dailysalt WHERE day = %s"

# At most one: a process that runs over midnight must not hold on to yesterday's.
remembered: dict[date, bytes] = {}


def visitor_hash(*, day: date, embed_id: UUID, address: str, user_agent: str) -> bytes:
    """16 bytes that stand for a reader of one embed on one day."""
    who = b"\n".join((embed_id.bytes, address.encode(), user_agent.encode()))
    return hmac.digest(salt_of(day), who, hashlib.sha256)[:HASH_BYTES]


def salt_of(day: date) -> bytes:
    """The salt of a day, made by whoever needs it first. A process remembers one, and only once it is committed."""
    if (salt := remembered.get(day)) is not None:
        return salt
    with connection.cursor() as cursor:
        # Two statements: the second sees a salt that another process committed while the first one waited for it.
        cursor.execute(MAKE, [day, secrets.token_bytes(SALT_BYTES)])
        cursor.execute(READ, [day])
        salt = bytes(cursor.fetchone()[0])
    transaction.on_commit(partial(_remember, day, salt))
    return salt


def _remember(day: date, salt: bytes) -> None:
    remembered.clear()
    remembered[day] = salt
