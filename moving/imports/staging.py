"""Writes the records of a file into the temporary database (`moving.imports.staging`).

The temporary SQLite database of an import, whose memory therefore does not depend on the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson

from messaging.accounts.names import is_visible_text
from messaging.models.account import NAME_MAX
from messaging.models.message import CONTENT_MAX
from messaging.pages.page_ids import NormalizedUrl
from moving.detours import without_detours
from moving.formats import Author, Post, Reactions, Record, Unusable
from moving.formats.records import ContentTooLarge
from moving.imports import texts
from moving.imports.addresses import Pages
from moving.imports.clocks import Clocks
from moving.imports.extras import checked, has_content
from moving.imports.own_pages import REASON, OwnPages, OwnWords
from moving.imports.progress import Report
from moving.imports.usable_reactions import usable

SCHEMA = """
CREATE TABLE page (number INTEGER PRIMARY KEY, page_id TEXT UNIQUE, url TEXT);
CREATE TABLE author (number INTEGER PRIMARY KEY, source_id TEXT UNIQUE, name TEXT, email TEXT, kind TEXT);
CREATE TABLE post (
    number INTEGER PRIMARY KEY, source_id TEXT UNIQUE, parent_id TEXT, page INTEGER, author INTEGER, state TEXT,
    created INTEGER, thread_created INTEGER, edited INTEGER, score INTEGER, content TEXT, extra TEXT, address TEXT,
    local INTEGER, thread_local INTEGER, last_reaction INTEGER
);
CREATE TABLE left_out (source_id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE clock (day INTEGER PRIMARY KEY, ahead INTEGER);
CREATE INDEX authors_of_mail ON author (email) WHERE email <> '';
CREATE TABLE reaction (number INTEGER PRIMARY KEY, post INTEGER, author INTEGER, emoji TEXT, at TEXT);
CREATE TABLE quote (number INTEGER PRIMARY KEY, quote_id TEXT, has_nothing_else INTEGER);
"""
PRAGMAS = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000;"


class StagedAuthor(NamedTuple):
    author_id: str
    author_name: str
    author_email: str
    author_kind: str


class StagedPost(NamedTuple):
    """A row of `post` with those that it refers to. Times in microseconds since 1970."""

    number: int
    source_id: str
    parent_id: str
    page_id: str
    url: str
    author_id: str
    author_name: str
    author_email: str
    author_kind: str
    state: str
    edited: int | None
    score: int | None
    content: str
    extra: str | None
    address: str
    has_reactions: bool

    @property
    def size(self) -> int:
        """The bytes of its texts."""
        return len(self.content.encode()) + len((self.extra or "").encode())

    def without_content(self) -> StagedPost:
        """As a deleted post."""
        return self._replace(state="deleted", edited=None, score=None, content="", extra=None, has_reactions=False)


SELECT = """
SELECT post.number, post.source_id, parent_id, page_id, url, author.source_id, name, email, kind, state, edited, score,
    content, extra, address, last_reaction IS NOT NULL
FROM post JOIN page ON page.number = post.page JOIN author ON author.number = post.author
WHERE post.number = ?
"""


@contextmanager
def opened() -> Iterator[sqlite3.Connection]:
    """A database without a name: its file is in no folder, and vanishes with the process, also with a killed one."""
    with closing(sqlite3.connect("", isolation_level=None)) as database:
        database.executescript(PRAGMAS + SCHEMA)
        yield database


ADD_POST = "INSERT OR IGNORE INTO post VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)"
LEAVE_OUT = "INSERT OR IGNORE INTO left_out VALUES (?)"
ADD_REACTION = "INSERT INTO reaction VALUES (NULL, ?, ?, ?, ?)"
SET_LAST_REACTION = "UPDATE post SET last_reaction = (SELECT max(number) FROM reaction) WHERE number = ?"
ADD_QUOTE = "INSERT INTO quote VALUES (last_insert_rowid(), ?, ?)"
ADD_PAGE = "INSERT INTO page VALUES (NULL, ?, ?) ON CONFLICT (page_id) DO UPDATE SET url = url RETURNING number"
AUTHOR = "SELECT number, name, email FROM author WHERE source_id = ?"
ADD_AUTHOR = "INSERT INTO author VALUES (NULL, ?, ?, ?, ?) RETURNING number"
AUTHORS = "SELECT source_id, name, email, kind FROM author ORDER BY number"
SET_EMAIL = "UPDATE author SET email = ? WHERE number = ?"
SAME_EMAIL = "SELECT name FROM author WHERE email = ? AND email <> '' AND number <> ? ORDER BY number LIMIT 1"
# Why a post of this state is not taken, and what the page of the import calls these.
NOT_TAKEN = {
    "spam": "It is spam.",
    "withdrawn": "Its thread was withdrawn.",
    "pingback": "It is a pingback or trackback of another site, not a comment.",
}
HUMAN, AGENT = "human", "agent"
# What a post, or a reaction, takes beside its texts, with the entry of the index.
ROW_BYTES = 200


class Staging:
    """Takes the records of one file; what cannot be taken becomes a row of the report.

    `content_max`: how much of the posts is stored; None: all. A file may have an address once for any number of posts.
    """

    def __init__(
        self,
        database: sqlite3.Connection,
        *,
        pages: Pages,
        own: OwnPages,
        words: OwnWords,
        report: Report,
        content_max: int | None = None,
    ) -> None:
        self.database, self._pages, self._report = database, pages, report
        self._own, self._words = own, words
        self._content_max, self._stored = content_max, 0
        self.found = self.reactions = 0
        # The last post with its number, if it was taken, and the kinds of its reactions.
        self._last: tuple[int, Post] | None = None
        self._kinds: set[str] = set()
        self._clocks = Clocks(database)
        # Whether a part of the file could not be read, of which it is not known what posts it has.
        self.has_damage = False
        # The address of the site whose numbers the ids are; "" where they are no numbers.
        self.home = ""

    def take(self, records: Iterable[Record]) -> None:
        self.database.execute("BEGIN")
        for record in records:
            match record:
                case Post():
                    self.found += 1
                    self._last, self._kinds = None, set()
                    self._take(record)
                case Reactions(values):
                    self._take_reactions(values)
                case _:
                    self._skip(record, record.reason)
                    self.has_damage |= not record.source_id
        self.database.execute("COMMIT")

    def count(self) -> int:
        """How many posts were taken."""
        count: int = self.database.execute("SELECT count(*) FROM post").fetchone()[0]
        return count

    def posts(self, numbers: Iterable[int]) -> Iterator[StagedPost]:
        """In this order, one in memory at a time."""
        for number in numbers:
            yield StagedPost(*self.database.execute(SELECT, [number]).fetchone())

    def authors(self) -> Iterator[StagedAuthor]:
        """The authors of posts and reactions."""
        return (StagedAuthor(*row) for row in self.database.execute(AUTHORS))

    def _take(self, post: Post) -> None:
        if reason := NOT_TAKEN.get(post.state):
            return self._skip(post, reason, kind=post.state)
        content = texts.storable(post.text) if post.state != "deleted" else ""
        # Posts of our own exports stay as they were written.
        if not post.extra:
            content = without_detours(content.strip()) if is_visible_text(content) else ""
        if not content and post.state != "deleted" and not post.extra:
            return self._skip(post, "It has no text.", kind="empty")
        page = self._pages.find(*map(texts.storable, (post.address, post.identifier, post.title)))
        if isinstance(page, str):
            return self._skip(post, page, kind="address")
        if not self._own.take(page):
            return self._skip(post, REASON, kind="host")
        self._add(post, page, content)
        return None

    def _skip(self, record: Post | Unusable, reason: str, *, kind: str = "") -> None:
        address = record.address or (record.identifier if isinstance(record, Post) else "")
        self._report.skipped(record.source_id, address, reason, kind=kind)
        self.database.execute(LEAVE_OUT, [texts.source_id_of(record.source_id)])

    def _add(self, post: Post, page: NormalizedUrl, content: str) -> None:
        fields = self._fields(post)
        if not content and post.state != "deleted" and not has_content(fields):
            return self._skip(post, "It has no text.", kind="empty")
        self._report_cuts(post, content)
        content = texts.cut(content, CONTENT_MAX)
        is_held = post.state == "published" and self._words.match(page, content, fields)
        self.home = self.home or self._home(post, page)
        author, name, is_new = self._author(post.author, post.extra.get("author", {}).get("kind"))
        values = (
            *(None, texts.source_id_of(post.source_id), texts.source_id_of(post.parent_id)),
            self._number(ADD_PAGE, page.page_id, page.normalized_url),
            author,
            "pending" if is_held else post.state,
            *map(texts.microseconds, (post.created_at, post.thread_created_at, post.edited_at)),
            *(texts.score_of(post.score), content),
            orjson.dumps(fields).decode() if post.extra else None,
            texts.storable(post.address),
            *self._clocks.take(post),
        )
        self._count(values)
        added = self.database.execute(ADD_POST, values)
        if not added.rowcount or added.lastrowid is None:
            return self._skip(post, "An earlier post of the file has the same id.", kind="duplicate")
        self._last = added.lastrowid, post
        self._report_names(post, author, name, is_new=is_new)
        if is_held:
            reason = "It has a blocked word, and waits for approval."
            self._report.changed(post.source_id, post.address, reason, kind="words")
        if (quote_id := fields.get("quoteId")) and post.state != "deleted":
            has_nothing_else = not content and not has_content(fields | {"quoteId": None})
            self.database.execute(ADD_QUOTE, (texts.source_id_of(quote_id), has_nothing_else))
        return None

    def _take_reactions(self, values: list[Any]) -> None:
        """Those of a post that is not taken are not either."""
        if self._last is None:
            return
        number, post = self._last
        before = self.reactions
        for reaction in usable(values, self._kinds):
            author, *_names = self._author(reaction.author, reaction.kind)
            row = (number, author, reaction.emoji, reaction.at)
            self._count(row)
            self.database.execute(ADD_REACTION, row)
            self.reactions += 1
        if self.reactions > before:
            self.database.execute(SET_LAST_REACTION, [number])
        if left_out := len(values) - (self.reactions - before):
            reason = f"Left out: reactions ({left_out:,} without an emoji, a date or an author, or of too many kinds)."
            self._report.changed(post.source_id, post.address, reason, kind="fields")

    def _home(self, post: Post, page: NormalizedUrl) -> str:
        """After the replacements of addresses, as pages; where the site has no address, the host of the page."""
        home = self._pages.find(post.site) if post.site else ""
        if isinstance(home, NormalizedUrl):
            return home.normalized_url
        return urlsplit(page.normalized_url).netloc if post.site else ""

    def _count(self, values: Sequence[object]) -> None:
        self._stored += ROW_BYTES + sum(len(value.encode()) for value in values if isinstance(value, str))
        if self._content_max is not None and self._stored > self._content_max:
            raise ContentTooLarge(self._content_max)

    def _fields(self, post: Post) -> dict[str, Any]:
        """What only our own exports have of a post, as far as it can be used."""
        if not post.extra:
            return {}
        values, refused = checked(post.extra)
        if refused:
            reason = f"Left out: {'; '.join(f'{name} ({why})' for name, why in refused.items())}."
            self._report.changed(post.source_id, post.address, reason, kind="fields")
        return values

    def _author(self, author: Author, kind: object) -> tuple[int, str, bool]:
        """(the number of the author, the name, whether this is the author's first row in the file)."""
        source_id, email = texts.source_id_of(author.source_id), texts.storable(author.email)[:254]
        known = self.database.execute(AUTHOR, [source_id]).fetchone()
        if known is None:
            # A name takes long to check, and an author may have many reactions.
            name = texts.name_of(author.name)
            number = self._number(ADD_AUTHOR, source_id, name, email, AGENT if kind == AGENT else HUMAN)
            return number, name, True
        number, name, known_email = known
        if email and not known_email:
            self.database.execute(SET_EMAIL, [email, number])
        return number, name, False

    def _report_names(self, post: Post, author: int, name: str, *, is_new: bool) -> None:
        """Add rows for a post that gets another name than its own, and for a mail address of several authors."""
        own = post.author.name
        if own and own != name and (shown := texts.name_of(own)) != name:
            reason = f'Its author is called "{shown}" here, and "{name}" in all posts: the foreign id is the same.'
            self._report.changed(post.source_id, post.address, reason, kind="author")
        if is_new and (other := self.database.execute(SAME_EMAIL, [post.author.email, author]).fetchone()):
            reason = f'The mail address of its author, "{name}", is also that of "{other[0]}": they stay two authors.'
            self._report.changed(post.source_id, post.address, reason, kind="author")

    def _number(self, statement: str, *values: str) -> int:
        number: int = self.database.execute(statement, values).fetchone()[0]
        return number

    def _report_cuts(self, post: Post, content: str) -> None:
        if len(content) > CONTENT_MAX:
            reason = f"The text has {len(content):,} characters and was cut to {CONTENT_MAX:,}."
            self._report.changed(post.source_id, post.address, reason, kind="text")
        if _is_cut(post.author):
            reason = f"The name of the author has {len(post.author.name):,} characters and was cut to 60."
            self._report.changed(post.source_id, post.address, reason, kind="name")


def _is_cut(author: Author) -> bool:
    return len(author.name) > NAME_MAX and texts.name_of(author.name).endswith(texts.ELLIPSIS)
