"""isso's SQLite database. It is opened read-only, and only its tables `threads` and `comments` are read."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from time import monotonic
from urllib.parse import quote

from moving.formats.isso_rows import COLUMNS, as_text, post_of
from moving.formats.records import Record, UnreadableFile, Unusable
from moving.formats.source import GZIP, Source
from moving.formats.spill import SpillingMap
from moving.formats.values import ADDRESS_MAX, TITLE_MAX, line

MAGIC = b"SQLite format 3\x00"
TABLE = re.compile(r"CREATE\s+TABLE\b", re.IGNORECASE)
NEEDED = {"threads": ("id", "uri", "title"), "comments": COLUMNS}
ROW = f"SELECT {', '.join(COLUMNS)} FROM comments WHERE _rowid_ = ?"  # noqa: S608
VALUE_MAX = 16 << 20
# Between two rows. A damaged or hostile database may make SQLite work without end.
SECONDS_MAX = 60
STEPS = 100_000
# Progress is told by rows, since SQLite reads the file in its own order.
ROWS_PER_PROGRESS = 500
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_PRAGMA}
NO_EXPORT = "The file is no database of isso. Use the file that `dbpath` of isso's configuration names."
DAMAGED = "The database cannot be read: {}. Copy it again while isso is stopped."


def read(source: Source) -> Iterator[Record]:
    head = source.head(len(MAGIC))
    if head.startswith(GZIP):
        raise UnreadableFile("The database of isso is compressed. Decompress it first, for example with gunzip.")
    if head != MAGIC:
        raise UnreadableFile(NO_EXPORT)
    threads = SpillingMap()
    try:
        with closing(_open(source)) as connection:
            yield from _records(connection, threads, source)
    finally:
        threads.close()


def _open(source: Source) -> sqlite3.Connection:
    try:
        return _connect(source)
    except sqlite3.Error as error:
        raise UnreadableFile(DAMAGED.format(error)) from error


def _connect(source: Source) -> sqlite3.Connection:
    """`immutable`: neither a journal nor a lock beside the file is looked for."""
    address = f"file:{quote(str(source.path.absolute()))}?mode=ro&immutable=1"
    connection = sqlite3.connect(address, uri=True, isolation_level=None)
    connection.text_factory = bytes
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_MAX)
    for pragma in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "cache_size = -8000"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("PRAGMA mmap_size = 0")
    connection.set_authorizer(lambda action, *_rest: sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY)
    return connection


def _records(connection: sqlite3.Connection, threads: SpillingMap, source: Source) -> Iterator[Record]:
    deadline = monotonic() + SECONDS_MAX

    def is_late() -> bool:
        return monotonic() > deadline

    connection.set_progress_handler(is_late, STEPS)
    is_read = False
    try:
        _check_tables(connection)
        for thread_id, *texts in connection.execute("SELECT id, uri, title FROM threads"):
            address, title = map(as_text, texts)
            source.take(len(address) + len(title))
            threads.add(str(thread_id), json.dumps([line(address, ADDRESS_MAX), line(title, TITLE_MAX)]))
        size = source.path.stat().st_size
        # No row is shorter: more of them than bytes means that the file refers to itself.
        rows = connection.execute(f"SELECT _rowid_ FROM comments LIMIT {size}")  # noqa: S608
        for number, (row_id,) in enumerate(rows):
            deadline = monotonic() + SECONDS_MAX
            is_read = True
            yield _record(connection, row_id, threads, source)
            if number % ROWS_PER_PROGRESS == 0:
                source.on_progress(min(size, number * 200))
        source.on_progress(size)
    except sqlite3.Error as error:
        if not is_read:
            raise UnreadableFile(DAMAGED.format(error)) from error
        yield Unusable("", "", f"The database is damaged: {error}. Comments that follow are not read.")


def _record(connection: sqlite3.Connection, row_id: int, threads: SpillingMap, source: Source) -> Record:
    """Each row is read alone: one that is damaged or too long hides no other."""
    try:
        row = connection.execute(ROW, (row_id,)).fetchone()
    except sqlite3.Error as error:
        return Unusable(str(row_id), "", f"The comment cannot be read: {error}.")
    # The two trees of a damaged file may say different things.
    if row is None:
        return Unusable(str(row_id), "", "The comment cannot be read.")
    source.take(sum(len(value) for value in row if isinstance(value, bytes)))
    return post_of(dict(zip(COLUMNS, row, strict=True)), threads)


def _check_tables(connection: sqlite3.Connection) -> None:
    """Views, virtual tables and computed columns would run what the file says."""
    for table, columns in NEEDED.items():
        found = connection.execute(
            "SELECT type, sql FROM sqlite_master WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')", (table,)
        ).fetchall()
        if len(found) != 1 or found[0][0] != b"table" or not TABLE.match(as_text(found[0][1])):
            raise UnreadableFile(f"{NO_EXPORT} It has no table `{table}`.")
        stored = {
            as_text(row[1]).lower()
            for row in connection.execute(f"PRAGMA table_xinfo({table})").fetchall()
            if row[6] == 0
        }
        if "_rowid_" in stored:
            raise UnreadableFile(NO_EXPORT)
        if missing := sorted(set(columns) - stored):
            raise UnreadableFile(f"{NO_EXPORT} Its table `{table}` has no column `{missing[0]}`.")
