"""Exports of posts: for the command `export_posts` and the page of a community."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from moving.exports import disqus, jsonl, table
from moving.exports.reading import Reader
from moving.exports.scopes import Scope
from moving.exports.snapshot import Snapshot, open_snapshot


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


def export(
    scope: Scope,
    format: str,
    *,
    snapshot: Snapshot | None = None,
    on_progress: Callable[[int], None] = lambda posts: None,
) -> Iterator[bytes]:
    """The file in parts, from one snapshot of the database. Closing the iterator ends the statement that it runs.

    `on_progress` is called with the number of posts that were read so far.
    """
    if snapshot is None:
        with open_snapshot() as own:
            yield from export(scope, format, snapshot=own, on_progress=on_progress)
        return
    buffer = bytearray()
    for part in FORMATS[format].write(Reader(snapshot, scope, on_progress)):
        buffer += part
        if len(buffer) >= BYTES_AT_ONCE:
            yield bytes(buffer)
            buffer.clear()
    yield bytes(buffer)
