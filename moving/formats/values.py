"""Single values of foreign exports: what is unreadable becomes "", None or False, never an error."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from moving.formats.records import Author

ID_MAX = 200
# No address of a page is longer; what is longer is refused by the normaliser in any case.
ADDRESS_MAX = 8192
NAME_MAX = 1000
TITLE_MAX = 300
EMAIL_MAX = 254
SCORE_MAX = 2**31 - 1
MILLISECONDS_MIN = 100_000_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# PostgreSQL stores neither; a half of a surrogate pair is no character.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")
# The names that the systems give to guests.
GUESTS = frozenset({"", "guest", "anonymous"})
# Where it is stored, the address of a site may precede it.
BY_MAIL = re.compile("(.*mail:[0-9a-f]{32}):[0-9a-f]{16}")
NO_ONE = Author(source_id="guest", name="", email="", email_verified=False, is_anonymous=True)


def clean(value: object) -> str:
    """The text, without NUL and halves of surrogate pairs; "" for what is no text."""
    if not isinstance(value, str):
        return ""
    return UNSTORABLE.sub("", value) if not value.isascii() or "\x00" in value else value


def line(value: object, cap: int) -> str:
    """The text on one line, cut after that many characters."""
    return CONTROLS.sub(" ", clean(value)[:cap]).strip()


def identifier(value: object) -> str:
    """An id that is text or a whole number; "" for any other, and for one that is too long to be one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 2**63 else ""
    text = clean(value).strip()
    return text if len(text) <= ID_MAX else ""


def score_of(value: object) -> int | None:
    is_score = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= SCORE_MAX
    return value if is_score else None  # type: ignore[return-value]


def time_of(value: object) -> datetime | None:
    """A time in ISO 8601, of UTC where it names no zone."""
    if not isinstance(value, str) or not 10 <= len(value) <= 40:
        return None
    try:
        time = datetime.fromisoformat(value.strip())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def time_of_seconds(value: object) -> datetime | None:
    """A time in seconds since 1970, which may be negative, or in milliseconds: in seconds it would be after 5138."""
    if not isinstance(value, int | float):
        return None
    try:
        return EPOCH + timedelta(seconds=value / 1000 if value > MILLISECONDS_MIN else value)
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=4096)
def email_of(value: str) -> str:
    email = value.strip().lower()
    if not email or len(email) > EMAIL_MAX:
        return ""
    try:
        validate_email(email)
    except ValidationError:
        return ""
    return email


def author_of(*, source_id: str = "", name: str = "", email: str = "", is_anonymous: bool = False) -> Author:
    """An author. `source_id` is the id of a user whom the foreign system has signed in, if it has.

    Else the id is a digest of mail address and name: anybody may type the address of others, or one that many type.
    """
    name = line(name, NAME_MAX)
    is_guest = name.lower() in GUESTS
    name = "" if is_guest else name
    email = email_of(clean(email)[: EMAIL_MAX + 2])
    source_id = source_id or _typed_id(email, name) or NO_ONE.source_id
    return Author(
        source_id=source_id, name=name, email=email, email_verified=False, is_anonymous=is_anonymous or is_guest
    )


def id_by_mail(source_id: str) -> str:
    """The id that all authors with this mail address had in earlier releases; "" if the id has no address."""
    match = BY_MAIL.fullmatch(source_id)
    return match[1] if match else ""


def folded(name: str) -> str:
    """Names that are the same here are one person's, with one mail address."""
    return unicodedata.normalize("NFKC", name).casefold()


def _typed_id(email: str, name: str) -> str:
    if not email:
        return f"name:{_digest(name)}" if name else ""
    return f"mail:{_digest(email)}:{_digest(folded(name))[:16]}"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:32]
