"""Reads an SQLite database of others, row by row, in bounded time. It is opened read-only, and nothing of it runs."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from time import monotonic
from urllib.parse import quote

from moving.formats.records import GZIP, Record, Source, UnreadableFile, Unusable, clean

MAGIC = b"SQLite format 3\x00"
TABLE = re.compile(r"CREATE\s+TABLE\b", re.IGNORECASE)
VALUE_MAX = 16 << 20
# Between two rows. A damaged or hostile database may make SQLite work without end.
SECONDS_MAX = 60
STEPS = 100_000
# Progress is told by rows, since SQLite reads the file in its own order.
ROWS_PER_PROGRESS = 500
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_PRAGMA}
DAMAGED = "The database cannot be read: {error}. Copy it again while {program} is stopped."
Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Shape:
    """The database of a program.

    `tables`: the columns that are read of each table, `comments` being the last one. A column with `?` is None where
    the database lacks it. `no_export`: why another file is refused, and which one to use.
    """

    program: str
    no_export: str
    tables: Mapping[str, Sequence[str]]


def as_text(value: object) -> str:
    """Text comes as bytes, which need not be UTF-8."""
    return clean(value.decode(errors="replace")) if isinstance(value, bytes) else ""


def read(
    source: Source, shape: Shape, *, refer: Callable[[str, Row], None], post_of: Callable[[Row], Record]
) -> Iterator[Record]:
    """`refer` gets the rows of the tables that comments refer to, and `post_of` those of `comments`.

    Raises UnreadableFile, before the first record.
    """
    head = source.head(len(MAGIC))
    if head.startswith(GZIP):
        raise UnreadableFile(
            f"The database of {shape.program} is compressed. Decompress it first, for example with gunzip."
        )
    if head != MAGIC:
        raise UnreadableFile(shape.no_export)
    try:
        connection = _connect(source)
    except sqlite3.Error as error:
        raise UnreadableFile(DAMAGED.format(error=error, program=shape.program)) from error
    with closing(connection):
        yield from _records(connection, source, shape, refer, post_of)


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


def _records(
    connection: sqlite3.Connection,
    source: Source,
    shape: Shape,
    refer: Callable[[str, Row], None],
    post_of: Callable[[Row], Record],
) -> Iterator[Record]:
    deadline = monotonic() + SECONDS_MAX

    def is_late() -> bool:
        return monotonic() > deadline

    connection.set_progress_handler(is_late, STEPS)
    is_read = False
    try:
        selected = {table: _select(connection, shape, table) for table in shape.tables}
        for table in list(selected)[:-1]:
            for values in connection.execute(selected[table]):
                _count(source, values)
                refer(table, _row(shape, table, values))
        size = source.path.stat().st_size
        # No row is shorter: more of them than bytes means that the file refers to itself.
        rows = connection.execute(f"SELECT _rowid_ FROM comments ORDER BY _rowid_ LIMIT {size}")  # noqa: S608
        for number, (row_id,) in enumerate(rows):
            deadline = monotonic() + SECONDS_MAX
            is_read = True
            row = _comment(connection, selected["comments"], row_id, source, shape)
            yield row if isinstance(row, Unusable) else post_of(row)
            if number % ROWS_PER_PROGRESS == 0:
                source.on_progress(min(size, number * 200))
        source.on_progress(size)
    except sqlite3.Error as error:
        if not is_read:
            raise UnreadableFile(DAMAGED.format(error=error, program=shape.program)) from error
        yield Unusable("", "", f"The database is damaged: {error}. Comments that follow are not read.")


def _comment(connection: sqlite3.Connection, select: str, row_id: int, source: Source, shape: Shape) -> Row | Unusable:
    """Each row is read alone: one that is damaged or too long hides no other."""
    try:
        values = connection.execute(f"{select} WHERE _rowid_ = ?", (row_id,)).fetchone()
    except sqlite3.Error as error:
        return Unusable(str(row_id), "", f"The comment cannot be read: {error}.")
    # The two trees of a damaged file may say different things.
    if values is None:
        return Unusable(str(row_id), "", "The comment cannot be read.")
    _count(source, values)
    return _row(shape, "comments", values)


def _count(source: Source, values: Sequence[object]) -> None:
    source.take(sum(len(value) for value in values if isinstance(value, bytes)))


def _row(shape: Shape, table: str, values: Sequence[object]) -> Row:
    return dict(zip((column.rstrip("?") for column in shape.tables[table]), values, strict=True))


def _select(connection: sqlite3.Connection, shape: Shape, table: str) -> str:
    """The statement that reads the columns. Views, virtual tables and computed columns would run what the file says."""
    found = connection.execute(
        "SELECT type, sql FROM sqlite_master WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')", (table,)
    ).fetchall()
    if len(found) != 1 or found[0][0] != b"table" or not TABLE.match(as_text(found[0][1])):
        raise UnreadableFile(f"{shape.no_export} It has no table `{table}`.")
    stored = {
        as_text(row[1]).lower() for row in connection.execute(f"PRAGMA table_xinfo({table})").fetchall() if row[6] == 0
    }
    if "_rowid_" in stored:
        raise UnreadableFile(shape.no_export)
    columns = shape.tables[table]
    if missing := sorted(column for column in columns if column[-1] != "?" and column.lower() not in stored):
        raise UnreadableFile(f"{shape.no_export} Its table `{table}` has no column `{missing[0]}`.")
    names = (column if column[-1] != "?" else column[:-1] for column in columns)
    listed = ", ".join(name if name.lower() in stored else "NULL" for name in names)
    return f"SELECT {listed} FROM {table}"  # noqa: S608
