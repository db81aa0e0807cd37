"""The temporary SQLite database of an import, whose memory therefore does not depend on the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

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
