"""Exports of posts: for the command `export_posts` and the page of a community."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

from moving.exports import disqus, jsonl, table
from moving.exports.reading import Reader, Scope, open_snapshot


@dataclass(frozen=True, slots=True)
class Format:
    write: Callable[[Reader], Iterator[bytes]]
    extension: str
    content_type: str


FORMATS = {
    "jsonl": Format(jsonl.write, "jsonl", "application/jsonl; charset=utf-8"),
    "disqus": Format(disqus.write, "xml", "application/xml; charset=utf-8"),
    "csv": Format(table.write, "csv", "text/csv; charset=utf-8"),
}
BYTES_AT_ONCE = 64 * 1024


# Of a command, whose output may be read slowly.
IDLE_SECONDS = 3_600


def export(
    scope: Scope, format: str, *, on_progress: Callable[[int], None] = lambda posts: None
) -> Generator[bytes, None, None]:
    """The file in parts, from one snapshot of the database, without a limit of time.

    `on_progress` is called with the number of posts that were read so far.
    """
    with open_snapshot(statement_seconds=0, idle_seconds=IDLE_SECONDS) as snapshot:
        yield from parts_of(Reader(snapshot, scope, on_progress), format)


def parts_of(reader: Reader, format: str) -> Generator[bytes, None, None]:
    """The file in parts of some BYTES_AT_ONCE; one at least."""
    buffer = bytearray()
    for part in FORMATS[format].write(reader):
        buffer += part
        if len(buffer) >= BYTES_AT_ONCE:
            yield bytes(buffer)
            buffer.clear()
    yield bytes(buffer)
