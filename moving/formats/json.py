"""Reads the arrays of one large JSON document as a stream, such as `{"name": [element, …], …}`.

JSON of foreign exports, a line or an element at a time, with bounds for what a file can make long or deep.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from moving.formats.records import Source

# Of a line or an element.
RECORD_MAX = 16 << 20
# Of its structure, which is what is outside of strings: values take many times its size in memory.
STRUCTURE_MAX = 64 << 10
STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
TOO_LONG = "It is longer than 16 MB."
NO_JSON = "It is no JSON object, or it is damaged."


class Damage(Exception):
    """The message is one sentence for the report."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line, counted from 1. `content` is None where it is too long."""

    number: int
    content: bytes | None


def lines(source: Source) -> Iterator[Line]:
    """The lines that are not empty. Raises CutOff after the last one before the damage of a compressed file."""
    held = bytearray()
    number = 1
    for piece in source.pieces():
        *ends, begin = piece.split(b"\n")
        for end in ends:
            _hold(held, end)
            yield from _line(number, held)
            held.clear()
            number += 1
        _hold(held, begin)
    yield from _line(number, held)


def _hold(held: bytearray, part: bytes) -> None:
    """Of a longer line is held one byte more than is allowed."""
    held += part[: RECORD_MAX + 1 - len(held)]


def _line(number: int, held: bytearray) -> Iterator[Line]:
    if len(held) > RECORD_MAX:
        yield Line(number, None)
    elif content := bytes(held).strip():
        yield Line(number, content)


def object_of(content: bytes | None) -> dict[str, Any]:
    """The object. Raises Damage for what is none."""
    if content is None:
        raise Damage(TOO_LONG)
    if len(content) > STRUCTURE_MAX and len(STRINGS.sub(b"", content)) > STRUCTURE_MAX:
        raise Damage("It has too many parts.")
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        value = _lenient(content)
    if not isinstance(value, dict):
        raise Damage(NO_JSON)
    return value


def _lenient(content: bytes) -> object:
    """Python's own parser accepts halves of surrogate pairs."""
    try:
        return json.loads(content.decode(errors="replace"), parse_int=_number, parse_constant=_nothing)
    except (ValueError, RecursionError) as error:
        raise Damage(NO_JSON) from error


def _number(digits: str) -> int | None:
    return int(digits) if len(digits) < 20 else None


def _nothing(_name: str) -> None:
    return None


# A whole string, or the begin of one that ends in a later piece, or a bracket.
MARK = re.compile(rb'"(?:[^"\\]|\\.)*+"|["{}\[\]]', re.DOTALL)
# The rest of a string, without the quote at its end.
STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
NAME = re.compile(rb'"([^"\\]{1,100})"\s*:\s*\Z')
# Of what is outside of the arrays.
OUTLINE_MAX = 64 << 10


@dataclass(frozen=True, slots=True)
class Part:
    """An element of the array of that name, "" where the document is the array. `content` is None if it is too long."""

    name: str
    content: bytes | None


@dataclass(slots=True)
class Document:
    """Takes the bytes of a document in pieces. `outline` is the document without what is inside of its arrays.

    `level` is how many brackets are open inside of the arrays: 1 where the document is one.
    """

    names: frozenset[str]
    level: int = 2
    outline: bytearray = field(default_factory=bytearray)
    name: str = ""
    depth: int = 0
    is_string: bool = False
    is_escaped: bool = False
    content: bytearray = field(default_factory=bytearray)
    is_too_long: bool = False

    def feed(self, piece: bytes) -> Iterator[Part]:
        position = self._string(piece, 0)
        while position < len(piece):
            match = MARK.search(piece, position)
            if match is None:
                self._add(piece[position:])
                return
            mark = match[0]
            if mark[:1] == b'"':
                self._add(piece[position : match.end()])
                self.is_string = len(mark) == 1
                position = self._string(piece, match.end())
                continue
            self._add(piece[position : match.start()])
            yield from self._open(mark) if mark in b"{[" else self._close(mark)
            position = match.end()

    def is_complete(self) -> bool:
        return self.depth == 0 and self.outline.rstrip().endswith((b"}", b"]"))

    def _string(self, piece: bytes, position: int) -> int:
        """The position after the string that is open."""
        start = position
        if self.is_string and piece:
            match = STRING.match(piece, position + self.is_escaped)
            position = match.end() if match else len(piece)
            # A backslash at the end of the piece escapes the first byte of the next one.
            self.is_escaped = piece[position:] == b"\\"
            self.is_string = self.is_escaped or position == len(piece)
            position = min(position + 1, len(piece))
        self._add(piece[start:position])
        return position

    def _open(self, mark: bytes) -> Iterator[Part]:
        if self.depth < self.level:
            self._name()
            self._add(mark)
            self.depth += 1
        else:
            self.depth += 1
            self._add(mark)
        return iter(())

    def _close(self, mark: bytes) -> Iterator[Part]:
        if self.depth <= self.level:
            self.depth = max(0, self.depth - 1)
            self._add(mark)
            return
        self._add(mark)
        self.depth -= 1
        if self.depth == self.level:
            if self.name in self.names:
                yield Part(self.name, None if self.is_too_long else bytes(self.content))
            self.content.clear()
            self.is_too_long = False

    def _name(self) -> None:
        match = NAME.search(self.outline[-200:])
        self.name = match[1].decode(errors="replace") if match else ""

    def _add(self, text: bytes) -> None:
        if self.depth < self.level:
            self.outline += text[: max(0, OUTLINE_MAX - len(self.outline))]
        elif self.depth > self.level and self.name in self.names and not self.is_too_long:
            self.content += text
            if len(self.content) > RECORD_MAX:
                self.is_too_long = True
                self.content.clear()
