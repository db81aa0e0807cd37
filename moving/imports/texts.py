"""Makes foreign texts, names, dates and ids fit the columns of posts and accounts."""

from __future__ import annotations

import re
import secrets
import unicodedata
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from uuid import UUID

from django.core.exceptions import ValidationError

from messaging.accounts.names import validate_name
from messaging.models.account import NAME_MAX
from moving.models import SOURCE_ID_MAX

ELLIPSIS = "…"
NO_NAME = "Guest"
# NUL and lone surrogates, which PostgreSQL does not store.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
SCORE_MAX = 2**31 - 1
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
# A time further ahead is wrong.
AHEAD = timedelta(days=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
SLUG_MAX = 20
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
LETTERS_OF_HANDLE = 8


def storable(text: str) -> str:
    return UNSTORABLE.sub("\ufffd", text)


def cut(text: str, longest: int) -> str:
    """At most `longest` characters, the last one an ellipsis if some are missing."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + ELLIPSIS


def name_of(text: str) -> str:
    """A foreign name without the characters that names here must not contain, cut."""
    name = " ".join(storable(text).split())
    try:
        validate_name(name)
    except ValidationError:
        name = " ".join("".join(letter if _is_plain(letter) else " " for letter in name).split())
    return cut(name, NAME_MAX) or NO_NAME


def _is_plain(letter: str) -> bool:
    if unicodedata.category(letter)[0] == "C":
        return False
    try:
        validate_name(f"a{letter}")
    except ValidationError:
        return False
    return True


def handle_for(name: str) -> str:
    """A handle that resembles the name. The random end makes it free, and leaves short handles to people."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:SLUG_MAX].strip("_") or "guest"
    return f"{slug}_{''.join(secrets.choice(LETTERS) for _ in range(LETTERS_OF_HANDLE))}"


def source_id_of(text: str, *, site: str = "") -> str:
    """A foreign id, or a digest of one that is too long for the column. `site`: see `sites.site_of`."""
    text = site + storable(text)
    return text if len(text) <= SOURCE_ID_MAX else sha256(text.encode()).hexdigest()


def score_of(score: int | None) -> int | None:
    return score if score is None or abs(score) <= SCORE_MAX else None


def microseconds(time: datetime | None) -> int | None:
    """Since 1970."""
    return None if time is None else (time - EPOCH) // MICROSECOND


def time_of(microseconds: int) -> datetime:
    return EPOCH + microseconds * MICROSECOND


def id_at(time: int, number: int) -> UUID:
    """A UUIDv7 of that time, in microseconds since 1970. Those of the same time are in the order of `number`."""
    sequence = number & 0xFFFFFFFF
    value = (time // 1000 & (1 << 48) - 1) << 80 | 7 << 76 | (sequence >> 20) << 64
    value |= 2 << 62 | (sequence & 0xFFFFF) << 42 | secrets.randbits(42)
    return UUID(int=value)
