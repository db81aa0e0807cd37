"""The agent token itself, as pure functions: `cag_`, 40 random base62 characters, 6 of checksum.

The checksum tells a mistyped or cut token from an unknown one without asking the database. Of a token only a digest
under a server pepper is kept: a dump of the database yields no token, and no guess can be tested against it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
from zlib import crc32

from django.conf import settings

TOKEN_PREFIX = "cag_"  # noqa: S105  the public start of every token
RANDOM_LENGTH = 40
CHECKSUM_LENGTH = 6
PREFIX_LENGTH = 12
DIGEST_BYTES = 32
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
SHAPE = re.compile(rf"{TOKEN_PREFIX}[0-9A-Za-z]{{{RANDOM_LENGTH + CHECKSUM_LENGTH}}}\Z", re.ASCII)


def mint() -> str:
    """A new token (238 random bits)."""
    body = TOKEN_PREFIX + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_LENGTH))
    return body + checksum(body)


def checksum(body: str) -> str:
    """CRC32 of the characters before it, in base62, padded with zeros."""
    number, digits = crc32(body.encode()), ""
    for _ in range(CHECKSUM_LENGTH):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


def is_well_formed(token: str) -> bool:
    """Whether `token` may be one of ours at all."""
    return SHAPE.match(token) is not None and checksum(token[:-CHECKSUM_LENGTH]) == token[-CHECKSUM_LENGTH:]


def prefix(token: str) -> str:
    """What lists show of it."""
    return token[:PREFIX_LENGTH]


def digest(token: str) -> bytes:
    """What is kept of it: HMAC-SHA256 under the current pepper."""
    return _digest(settings.TOKEN_PEPPER, token)


def digests(token: str) -> list[bytes]:
    """Every digest it may be kept under: with the current pepper, and with the previous one during a rotation."""
    peppers = filter(None, (settings.TOKEN_PEPPER, settings.TOKEN_PEPPER_PREVIOUS))
    return [_digest(pepper, token) for pepper in peppers]


def _digest(pepper: str, token: str) -> bytes:
    return hmac.digest(pepper.encode(), token.encode(), hashlib.sha256)
