"""isso's SQLite database, of which only the tables `threads` and `comments` are read.

A row of isso's table `comments` as a post.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import unescape

from kernel.html_references import without_long_references
from moving.formats import sqlite_file
from moving.formats.records import (
    ADDRESS_MAX,
    TITLE_MAX,
    Post,
    Record,
    Source,
    SpillingMap,
    State,
    Unusable,
    author_of,
    identifier,
    line,
    score_of,
    time_of_seconds,
)
from moving.formats.sqlite_file import Row, Shape, as_text
from moving.formats.typed import typed_or_html

COLUMNS = ("id", "tid", "parent", "created", "modified", "mode", "text", "author", "email", "likes", "dislikes")
STATES: Mapping[int, State] = {1: "published", 2: "pending", 4: "deleted"}


def post_of(row: Mapping[str, object], threads: SpillingMap) -> Record:
    source_id = _id(row["id"])
    thread_id = _id(row["tid"])
    thread = threads.get(thread_id)
    address, title = json.loads(thread) if thread else ("", "")
    state = STATES.get(row["mode"]) if isinstance(row["mode"], int) else None
    if not source_id:
        return Unusable("", address, "A comment has no id.")
    if thread is None:
        return Unusable(source_id, "", "The thread of the comment is not in the file.")
    if state is None:
        return Unusable(source_id, address, "The state of the comment is not known.")
    return Post(
        source_id=source_id,
        parent_id=_id(row["parent"]),
        address=address,
        author=author_of(name=unescape(without_long_references(as_text(row["author"]))), email=as_text(row["email"])),
        created_at=time_of_seconds(row["created"]),
        thread_created_at=None,
        edited_at=time_of_seconds(row["modified"]),
        text="" if state == "deleted" else typed_or_html(as_text(row["text"])),
        state=state,
        score=_score(row["likes"], row["dislikes"]),
        site="/",
        identifier="" if address else thread_id,
        title=title,
    )


def _id(value: object) -> str:
    return identifier(as_text(value) or value)


def _score(likes: object, dislikes: object) -> int | None:
    counts = score_of(likes), score_of(dislikes)
    return None if None in counts else score_of(counts[0] - counts[1])  # type: ignore[operator]


SHAPE = Shape(
    "isso",
    "The file is no database of isso. Use the file that `dbpath` of isso's configuration names.",
    {"threads": ("id", "uri", "title"), "comments": COLUMNS},
)


def read(source: Source) -> Iterator[Record]:
    threads = SpillingMap()

    def add(_table: str, thread: Row) -> None:
        uri, title = line(as_text(thread["uri"]), ADDRESS_MAX), line(as_text(thread["title"]), TITLE_MAX)
        threads.add(str(thread["id"]), json.dumps([uri, title]))

    try:
        yield from sqlite_file.read(source, SHAPE, refer=add, post_of=lambda row: post_of(row, threads))
    finally:
        threads.close()
