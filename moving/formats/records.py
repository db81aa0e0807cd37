"""What the readers of foreign exports yield: posts, and rows that say what cannot be taken.

Single values of foreign exports: what is unreadable becomes "", None or False, never an error.

A map of any size: in memory while it is small, then in a temporary file.

Opens the file of an import: plain or compressed by gzip, in pieces, with progress.
"""

from __future__ import annotations

import gzip
import re
import sqlite3
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Literal, cast

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

State = Literal["published", "pending", "spam", "deleted", "withdrawn", "pingback"]


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a post in the foreign system.

    `source_id` is never empty and the same for each post of one author of a file: the id of a user whom the foreign
    system has signed in, else a digest of the mail address and the name, else of the name (`values.author_of`).
    `email` is lower-cased and syntactically valid, or "".
    `email_verified` says that the foreign system verified the address.
    """

    source_id: str
    name: str
    email: str
    email_verified: bool
    is_anonymous: bool


@dataclass(frozen=True, slots=True)
class Post:
    """A comment of the foreign system.

    `parent_id` is "" for a top-level post. `address` is as written there, unescaped. Times are aware, None where
    missing or unreadable. The local ones are naive: by a clock of the site, whose offset the file does not name.
    `text` is Markdown of `messaging.markdown`, of any length, without NUL. `extra` is the whole object of a line of our
    own export, else empty; its reactions follow as records. `site` is the address of the site where ids are numbers
    that other sites have too, "/" where that is not known, and "" where ids are unique everywhere. `identifier` and
    `title` are those of the thread, for one whose `address` is none.
    """

    source_id: str
    parent_id: str
    address: str
    author: Author
    created_at: datetime | None
    thread_created_at: datetime | None
    edited_at: datetime | None
    text: str
    state: State
    score: int | None
    extra: Mapping[str, Any] = field(default_factory=dict)
    site: str = ""
    identifier: str = ""
    title: str = ""
    created_local: datetime | None = None
    thread_created_local: datetime | None = None


@dataclass(frozen=True, slots=True)
class Reactions:
    """Some of the reactions to the post before, as a line of our own export has them. A post may have several."""

    values: list[Any]


@dataclass(frozen=True, slots=True)
class Unusable:
    """A part of the file that cannot be taken. `reason` is one plain sentence for the report."""

    source_id: str
    address: str
    reason: str


Record = Post | Reactions | Unusable


class UnreadableFile(Exception):
    """The whole file is refused. The message is for the user: what the file is, and what is known."""


class ContentTooLarge(UnreadableFile):
    """A small compressed file may have any content, and so may a database whose rows share their pages."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"The content of the file has more than {most / 1_000_000:,.0f} MB. Divide it, or ask the operator to "
            "import it with `manage.py import_posts`, which takes any size."
        )


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


MEMORY_MAX = 50_000


class SpillingMap:
    """Texts by key. The first value of a key stays. The file is SQLite's own and vanishes with the process."""

    def __init__(self) -> None:
        self.small: dict[str, str] = {}
        self.large: sqlite3.Connection | None = None

    def add(self, key: str, value: str) -> None:
        if self.large is not None:
            self.large.execute("INSERT OR IGNORE INTO entries VALUES (?, ?)", (key, value))
        elif len(self.small) < MEMORY_MAX or key in self.small:
            self.small.setdefault(key, value)
        else:
            self._spill()
            self.add(key, value)

    def get(self, key: str) -> str | None:
        if self.large is None:
            return self.small.get(key)
        row = self.large.execute("SELECT value FROM entries WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def close(self) -> None:
        if self.large is not None:
            with suppress(sqlite3.Error):
                self.large.close()

    def _spill(self) -> None:
        """An empty name is a temporary file, which is removed when it is closed."""
        self.large = sqlite3.connect("", isolation_level=None)
        self.large.execute("PRAGMA journal_mode = OFF")
        self.large.execute("PRAGMA synchronous = OFF")
        self.large.execute("PRAGMA cache_size = -16000")
        self.large.execute("CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
        self.large.execute("BEGIN")
        self.large.executemany("INSERT INTO entries VALUES (?, ?)", self.small.items())
        self.small.clear()


PIECE = 1 << 16
GZIP = b"\x1f\x8b"


class CutOff(Exception):
    """A compressed file ends too early or is damaged. The pieces before have been read."""


@dataclass(slots=True)
class Source:
    """A file and whom to tell how many of its bytes have been read. Nothing beside the file is opened.

    `content_max`: how many bytes the content may have, decompressed; None: any number.
    """

    path: Path
    on_progress: Callable[[int], None]
    content_max: int | None = None
    _taken: int = field(default=0, init=False)

    def is_compressed(self) -> bool:
        return self.head(2) == GZIP

    def head(self, size: int) -> bytes:
        try:
            with self.path.open("rb") as file:
                return file.read(size)
        except OSError as error:
            raise UnreadableFile(f"The file cannot be opened: {error.strerror}.") from error

    def pieces(self) -> Iterator[bytes]:
        """The content, decompressed, in pieces of at most 64 KiB. Raises CutOff after the last good piece."""
        is_compressed = self.is_compressed()
        with self.path.open("rb") as file:
            content = cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if is_compressed else file
            while piece := _read(content):
                self.take(len(piece))
                yield piece
                self.on_progress(file.tell())

    def take(self, size: int) -> None:
        """Count bytes of the content. Raises ContentTooLarge."""
        self._taken += size
        if self.content_max is not None and self._taken > self.content_max:
            raise ContentTooLarge(self.content_max)


def _read(content: IO[bytes]) -> bytes:
    try:
        return content.read(PIECE)
    except (EOFError, zlib.error, gzip.BadGzipFile, OSError) as error:
        raise CutOff(str(error)) from error
