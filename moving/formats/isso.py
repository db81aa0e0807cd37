"""isso's SQLite database, of which only the tables `threads` and `comments` are read."""

from __future__ import annotations

import json
from collections.abc import Iterator

from moving.formats import sqlite_file
from moving.formats.isso_rows import COLUMNS, post_of
from moving.formats.records import Record
from moving.formats.source import Source
from moving.formats.spill import SpillingMap
from moving.formats.sqlite_file import Row, Shape, as_text
from moving.formats.values import ADDRESS_MAX, TITLE_MAX, line

SHAPE = Shape(
    "isso",
    "The file is no database of isso. Use the file that `dbpath` of isso's configuration names.",
    {"threads": ("id", "uri", "title"), "comments": COLUMNS},
)


def read(source: Source) -> Iterator[Record]:
    threads = SpillingMap()

    def add(_table: str, thread: Row) -> None:
        address, title = as_text(thread["uri"]), as_text(thread["title"])
        threads.add(str(thread["id"]), json.dumps([line(address, ADDRESS_MAX), line(title, TITLE_MAX)]))

    try:
        yield from sqlite_file.read(source, SHAPE, refer=add, post_of=lambda row: post_of(row, threads))
    finally:
        threads.close()
