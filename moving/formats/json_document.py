"""Reads the arrays of one large JSON document as a stream, such as `{"name": [element, …], …}`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from moving.formats.json_lines import RECORD_MAX

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
