"""Readers of the exports of other comment systems. Each yields posts, and a row for what cannot be taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from moving.formats.records import Author, Post, Reactions, Record, Source, UnreadableFile, Unusable

__all__ = [
    "FORMATS",
    "PROGRAMS",
    "Author",
    "Post",
    "Reactions",
    "Record",
    "Source",
    "UnreadableFile",
    "Unusable",
    "detect",
    "read",
]

Reader = Callable[[Source], Iterator[Record]]


def _reader(module: str) -> Reader:
    """`read` of a module, which is imported at its first use."""

    def read_source(source: Source) -> Iterator[Record]:
        records: Iterator[Record] = import_module(f"moving.formats.{module}").read(source)
        return records

    return read_source


FORMATS: dict[str, Reader] = {
    "disqus": _reader("disqus"),
    "wordpress": _reader("wordpress"),
    "remark42": _reader("remark42"),
    "isso": _reader("isso"),
    "commento": _reader("commento"),
    "comentario": _reader("comentario"),
    "waline": _reader("waline"),
    "twikoo": _reader("twikoo"),
    "artalk": _reader("artalk"),
    "cusdis": _reader("cusdis"),
    "jsonl": _reader("own"),
}
# What has written them.
PROGRAMS = {
    "disqus": "Disqus",
    "wordpress": "WordPress",
    "remark42": "remark42",
    "isso": "isso",
    "commento": "Commento",
    "comentario": "Comentario",
    "waline": "Waline",
    "twikoo": "Twikoo",
    "artalk": "Artalk",
    "cusdis": "Cusdis",
    "jsonl": "this service",
}


def detect(path: Path, *, content_max: int | None = None) -> str | None:
    """The format of a file: the one whose reader does not refuse it. None: it is no export that is known.

    Readers refuse each other's files at their beginning, except those of JSON objects, which read the file once.
    """
    return next((name for name in FORMATS if _is_read(name, path, content_max)), None)


def _is_read(format: str, path: Path, content_max: int | None) -> bool:
    try:
        next(read(format, path, content_max=content_max), None)
    except UnreadableFile:
        return False
    return True


def read(
    format: str,
    path: Path,
    *,
    on_progress: Callable[[int], None] = lambda _size: None,
    content_max: int | None = None,
) -> Iterator[Record]:
    """The records of a file in the order of the file, read as a stream.

    `on_progress` gets the number of bytes of the file that have been read: of a compressed one the compressed bytes.
    Raises UnreadableFile, also after the first records, where the file is no such export, or where its content is
    longer than `content_max`.
    """
    return FORMATS[format](Source(path, on_progress, content_max))
