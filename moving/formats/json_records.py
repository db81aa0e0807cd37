"""The records of an export that is one JSON document: one for each element of an array, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

from moving.formats.json import Damage, Document, Part, object_of
from moving.formats.records import CutOff, Record, Source, UnreadableFile, Unusable

VERSION = re.compile(rb'"version"\s*:\s*(\d{1,9})\s*[,}]')
# A byte order mark, and white space.
BLANKS = b"\xef\xbb\xbf \t\r\n"
CUT_OFF = "The compressed file is cut off or damaged. What follows is not read."
# (comment, its number in the file) -> the record. Raises Damage.
Read = Callable[[dict[str, Any], int], Record]


def first_byte(source: Source) -> bytes:
    """What the content begins with, beyond white space; b"" if it has nothing in its first 64 KiB."""
    try:
        return next(_again(source).pieces(), b"").lstrip(BLANKS)[:1]
    except CutOff:
        return b""


def scan(source: Source, document: Document, take: Callable[[str, dict[str, Any]], None], *, refusal: str) -> bytes:
    """Read a file a first time, without progress, for what comments refer to; returns what is outside of its arrays.

    Raises UnreadableFile where the document is no object.
    """
    if first_byte(source) != b"{":
        raise UnreadableFile(refusal)
    try:
        for piece in _again(source).pieces():
            for part in document.feed(piece):
                _take(part, take)
    except CutOff:
        pass
    return bytes(document.outline)


def require_version(outline: bytes, *, program: str, version: int, refusal: str) -> None:
    """Raises UnreadableFile unless the document has comments and this version."""
    match = VERSION.search(outline)
    if match is None or b'"comments"' not in outline:
        raise UnreadableFile(refusal)
    if int(match[1]) != version:
        raise UnreadableFile(f"The export of {program} has version {int(match[1])}. Known is version {version}.")


def records(source: Source, document: Document, read: Read) -> Iterator[Record]:
    """Of the elements of a document that `scan` has accepted."""
    number = 0
    try:
        for piece in source.pieces():
            for part in document.feed(piece):
                number += 1
                yield _record(part, number, read)
    except CutOff:
        yield Unusable("", "", CUT_OFF)
        return
    if not document.is_complete():
        yield Unusable("", "", f"The JSON is cut off or damaged after comment {number}. What follows is not read.")


def records_of_list(source: Source, read: Read, *, needed: Collection[str], refusal: str) -> Iterator[Record]:
    """Of a document that is an array of comments, and says nothing else about itself.

    Raises UnreadableFile unless it is one whose first comment has the keys `needed`.
    """
    is_known = False

    def read_checked(comment: dict[str, Any], number: int) -> Record:
        nonlocal is_known
        if not is_known and not comment.keys() >= set(needed):
            raise UnreadableFile(refusal)
        is_known = True
        return read(comment, number)

    if first_byte(source) == b"[":
        yield from records(source, Document(frozenset({""}), level=1), read_checked)
    if not is_known:
        raise UnreadableFile(refusal)


def _again(source: Source) -> Source:
    return replace(source, on_progress=lambda _size: None)


def _take(part: Part, take: Callable[[str, dict[str, Any]], None]) -> None:
    try:
        take(part.name, object_of(part.content))
    except Damage:
        return


def _record(part: Part, number: int, read: Read) -> Record:
    try:
        return read(object_of(part.content), number)
    except Damage as error:
        return Unusable("", "", f"Comment {number} is not read. {error}")
