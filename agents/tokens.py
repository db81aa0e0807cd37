"""The format of agent tokens, as pure functions: `cag_`, 40 random base62 characters, a checksum of 6 characters.

The checksum refuses a mistyped or truncated token without a query. Only a digest of a token under a server pepper is
stored: a dump of the database contains no token, and no guess can be tested against it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
from zlib import crc32

from django.conf import settings

TOKEN_PREFIX = "cag_"  # noqa: S105  the public prefix of every token
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
    """The CRC32 of `body` in base62, padded with zeros."""
    number, digits = crc32(body.encode()), ""
    for _ in range(CHECKSUM_LENGTH):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


def is_well_formed(token: str) -> bool:
    """Whether `token` has the shape and the checksum of an agent token."""
    return SHAPE.match(token) is not None and checksum(token[:-CHECKSUM_LENGTH]) == token[-CHECKSUM_LENGTH:]


def prefix(token: str) -> str:
    """The first characters, by which lists show a token."""
    return token[:PREFIX_LENGTH]


def digest(token: str) -> bytes:
    """The stored digest: HMAC-SHA256 under the current pepper."""
    return _digest(settings.TOKEN_PEPPER, token)


def digests(token: str) -> list[bytes]:
    """The digests that the row may have: under the current pepper and, during a rotation, under the previous one."""
    peppers = filter(None, (settings.TOKEN_PEPPER, settings.TOKEN_PEPPER_PREVIOUS))
    return [_digest(pepper, token) for pepper in peppers]


def _digest(pepper: str, token: str) -> bytes:
    return hmac.digest(pepper.encode(), token.encode(), hashlib.sha256)
