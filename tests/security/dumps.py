"""A dump of the test database, and the forms that a secret may have in it."""

from __future__ import annotations

import base64
import subprocess

from django.db import connection

from runtime.postgres_binaries import binaries

# Shorter bytes may occur by chance.
ENCODED_MIN = 5


def dump() -> str:
    """The whole test database as `pg_dump` writes it."""
    parameters = connection.get_connection_params()
    options = [
        "--host",
        parameters["host"],
        "--port",
        str(parameters.get("port") or 5432),
        "--username",
        parameters["user"],
    ]
    finished = subprocess.run(
        [binaries() / "pg_dump", *options, parameters["dbname"]], capture_output=True, text=True, check=True
    )
    return finished.stdout


def forms_of(secret: str) -> list[str]:
    """In clear; in hexadecimal, as pg_dump prints bytea; and the bytes that it encodes."""
    encoded = [decode(secret) for decode in (from_base64, from_base32)]
    return [secret, secret.encode().hex(), *(raw.hex() for raw in encoded if len(raw) >= ENCODED_MIN)]


def from_base64(text: str) -> bytes:
    """Empty, if it is none."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_" if set("-_") & set(text) else None)
    except ValueError:
        return b""


def from_base32(text: str) -> bytes:
    try:
        return base64.b32decode(text)
    except ValueError:
        return b""
