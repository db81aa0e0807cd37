"""A keyed fingerprint of each secret, stored in the database that the secrets are used with.

A host with other secrets refuses every token, and writes a retry a second time. So a start, and each command that uses
a secret, first compares its own secrets with the fingerprints, and goes no further where one is another.
"""

import hashlib
import hmac
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection, transaction

from config import secrets

PURPOSE = "fingerprint of "
TABLE = "SELECT to_regclass('api_secretfingerprint')"
STORED = "SELECT name, fingerprint FROM api_secretfingerprint"
# The database decides between hosts that start at once. Of two that exchange a secret, each may replace the other's.
REPLACE = """
INSERT INTO api_secretfingerprint AS stored (name, fingerprint, updated_at)
VALUES (%(name)s, %(current)s, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET fingerprint = excluded.fingerprint, updated_at = excluded.updated_at
WHERE stored.fingerprint IN (%(current)s, %(previous)s)
RETURNING name
"""
FORGET = "DELETE FROM api_secretfingerprint WHERE name = %s"


def fingerprint(name: str, secret: str) -> bytes:
    """An HMAC under the secret itself, which tells nothing of it."""
    return hmac.digest(secret.encode(), (PURPOSE + name).encode(), hashlib.sha256)


def require_known_secrets() -> None:
    """`check` for a management command."""
    with transaction.atomic(), connection.cursor() as cursor:
        check(cursor, data=settings.DATA_DIR, debug=settings.DEBUG)


def check(cursor: Any, *, data: Path, debug: bool) -> None:
    """Raises ImproperlyConfigured where the stored fingerprint is neither of the current nor of the previous secret.

    A first one, and the current one in place of the previous, are stored. `cursor` is Django's or psycopg's; before the
    first migration there is nothing to compare.
    """
    cursor.execute(TABLE)
    if cursor.fetchone() == (None,):
        return
    cursor.execute(STORED)
    stored = {name: bytes(value) for name, value in cursor.fetchall()}
    for name in secrets.NAMES:
        current = fingerprint(name, secrets.read(name, data=data, debug=debug))
        before = secrets.read_previous(name, data=data)
        previous = fingerprint(name, before) if before else None
        if stored.get(name) != current and not _replace(cursor, name, current, previous):
            raise ImproperlyConfigured(
                f"{name} is not the secret that this database was last used with: set it to that one, or, where that "
                f"one is lost, see what is lost with it: manage.py rotate_secret {name} --lost"
            )


def give_up(name: str) -> None:
    """Take the current secret for the database's own, whichever it was used with before."""
    current = fingerprint(name, secrets.read(name, data=settings.DATA_DIR, debug=settings.DEBUG))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(FORGET, [name])
        _replace(cursor, name, current, None)


def _replace(cursor: Any, name: str, current: bytes, previous: bytes | None) -> bool:
    cursor.execute(REPLACE, {"name": name, "current": current, "previous": previous})
    return cursor.fetchone() is not None
