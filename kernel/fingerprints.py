"""A keyed fingerprint of each secret, stored in the database that the secrets are used with.

A host with other secrets would refuse every token and run a retried write a second time. Therefore a start, and each
command that uses a secret, first compares the secrets with the fingerprints, and stops if one differs.
"""

import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection, transaction

from config import secrets

PURPOSE = "fingerprint of "
TABLE = "SELECT to_regclass('api_secretfingerprint')"
STORED = "SELECT name, fingerprint FROM api_secretfingerprint"
# One statement, so that hosts that start at the same time agree. During a rotation either secret may replace the other.
REPLACE = """
INSERT INTO api_secretfingerprint AS stored (name, fingerprint, updated_at)
VALUES (%(name)s, %(current)s, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET fingerprint = excluded.fingerprint, updated_at = excluded.updated_at
WHERE stored.fingerprint IN (%(current)s, %(previous)s)
RETURNING name
"""
FORGET = "DELETE FROM api_secretfingerprint WHERE name = %s"


def fingerprint(name: str, secret: str) -> bytes:
    """An HMAC under the secret itself, which reveals nothing about it."""
    return hmac.digest(secret.encode(), (PURPOSE + name).encode(), hashlib.sha256)


def require_known_secrets() -> None:
    """`check` for a management command."""
    with transaction.atomic(), connection.cursor() as cursor:
        check(cursor, data=settings.DATA_DIR, debug=settings.DEBUG)


def check(cursor: Any, *, data: Path, debug: bool) -> None:
    """Raises ImproperlyConfigured if the stored fingerprint is neither of the current nor of the previous secret.

    Stores a missing fingerprint, and replaces that of the previous secret. `cursor` is Django's or psycopg's. Does
    nothing before the first migration.
    """
    cursor.execute(TABLE)
    if cursor.fetchone() == (None,):
        return
    cursor.execute(STORED)
    stored = {name: bytes(value) for name, value in cursor.fetchall()}
    for name in secrets.NAMES:
        current = fingerprint(name, secrets.read(name, data=data, debug=debug))
        previous_secret = secrets.read_previous(name, data=data)
        previous = fingerprint(name, previous_secret) if previous_secret else None
        if stored.get(name) != current and not _replace(cursor, name, current, previous):
            raise ImproperlyConfigured(
                f"{name} is not the secret that this database was last used with: set it to that one, or, where that "
                f"one is lost, see what is lost with it: manage.py rotate_secret {name} --lost"
            )


def unknown(stored: Mapping[str, bytes], *, data: Path, debug: bool) -> list[str]:
    """The names of secrets whose current and previous value have another fingerprint than the stored one."""
    wrong = []
    for name, value in stored.items():
        if name not in secrets.NAMES:
            continue
        used = secrets.read(name, data=data, debug=debug), secrets.read_previous(name, data=data)
        if value not in {fingerprint(name, secret) for secret in used if secret}:
            wrong.append(name)
    return wrong


def give_up(name: str) -> None:
    """Store the fingerprint of the current secret in place of any other."""
    current = fingerprint(name, secrets.read(name, data=settings.DATA_DIR, debug=settings.DEBUG))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(FORGET, [name])
        _replace(cursor, name, current, None)


def _replace(cursor: Any, name: str, current: bytes, previous: bytes | None) -> bool:
    cursor.execute(REPLACE, {"name": name, "current": current, "previous": previous})
    return cursor.fetchone() is not None
