"""Reads XML as a stream of flat records. Damage ends it with a row of the report.

Document types are refused: exports have none, and entities and outside files begin there.

Feeds expat, and makes flat records of the elements that a format declares. Memory is bounded.
"""

from __future__ import annotations

import codecs
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from itertools import chain
from xml.parsers import expat

from moving.formats.records import CutOff, Source, UnreadableFile, Unusable

# Of the texts of one record.
RECORD_MAX = 16 << 20
# Of a tag, a comment or another part that expat holds until it ends.
TOKEN_MAX = 1 << 20
DEPTH_MAX = 100


@dataclass(slots=True)
class Element:
    """A record: the texts of its fields by their path in it, attributes as `path@name`.

    `outer` are the fields of the records around it that end before it, of the innermost one that has the field.
    """

    path: str
    outer: MutableMapping[str, str]
    fields: dict[str, str] = field(default_factory=dict)
    is_too_long: bool = False


@dataclass(slots=True)
class Shape:
    """The elements that are read: `root` is the outermost one, `records` has the fields of each record's path."""

    name: str
    root: str
    records: Mapping[str, frozenset[str]]

    def no_export(self) -> UnreadableFile:
        return UnreadableFile(
            f"The file is no export of {self.name}: it does not begin with <{self.root}>. If it is a web page, sign in "
            "there first and export again."
        )


class TooLong(Exception):
    """The message says what is too long or too deep."""


@dataclass(slots=True)
class _Open:
    """A record that has not ended, and the parts of the text of the field that is being read."""

    depth: int
    element: Element
    parts: list[str] = field(default_factory=list)
    size: int = 0


class Parser:
    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.path: list[str] = []
        self.open: list[_Open] = []
        self.done: list[Element] = []
        self.unfinished = 0
        self.is_started = False
        self.expat = expat.ParserCreate("utf-8")
        self.expat.buffer_text = True
        self.expat.buffer_size = 1 << 16
        self.expat.StartDoctypeDeclHandler = self.refuse_doctype
        self.expat.StartElementHandler = self.start
        self.expat.EndElementHandler = self.end
        self.expat.CharacterDataHandler = self.text
        self.expat.CommentHandler = self.expat.ProcessingInstructionHandler = self.other

    def feed(self, text: str, *, is_last: bool = False) -> None:
        self.unfinished += len(text)
        self.expat.Parse(text, is_last)
        if self.unfinished > TOKEN_MAX:
            raise TooLong("a tag or a comment in it does not end")

    def refuse_doctype(self, *_args: object) -> None:
        raise UnreadableFile(
            f"The file has a document type, which no export of {self.shape.name} has. Import the file as it was "
            "exported."
        )

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.unfinished = 0
        if not self.path and name != self.shape.root:
            raise self.shape.no_export()
        self.is_started = True
        self.path.append(name)
        if len(self.path) > DEPTH_MAX:
            raise TooLong(f"more than {DEPTH_MAX} elements are inside of one another")
        path = "/".join(self.path)
        if path in self.shape.records:
            around = self.open[-1].element if self.open else None
            outer = ChainMap(around.fields, around.outer) if around else ChainMap[str, str]()
            self.open.append(_Open(len(self.path), Element(path, outer)))
        for attribute, value in attributes.items() if self.open else ():
            self.set(self.key() + "@" + attribute, value)

    def key(self) -> str:
        return "/".join(self.path[self.open[-1].depth :])

    def set(self, key: str, value: str) -> None:
        element = self.open[-1].element
        if key in self.shape.records[element.path]:
            element.fields.setdefault(key, value)

    def text(self, text: str) -> None:
        self.unfinished = 0
        if not self.open:
            return
        record, key = self.open[-1], self.key()
        if key not in self.shape.records[record.element.path] or key in record.element.fields:
            return
        record.size += len(text)
        if record.size <= RECORD_MAX:
            record.parts.append(text)
        else:
            record.parts.clear()
            record.element.is_too_long = True

    def end(self, _name: str) -> None:
        self.unfinished = 0
        if self.open:
            record = self.open[-1]
            if record.depth == len(self.path):
                self.done.append(self.open.pop().element)
            elif record.parts:
                self.set(self.key(), "".join(record.parts))
                record.parts.clear()
        self.path.pop()

    def other(self, *_args: object) -> None:
        self.unfinished = 0


DECLARED = re.compile(rb"""\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
ENCODINGS = re.compile(
    r"utf-?8|utf-?16|us-ascii|ascii|iso-?8859-\d+|windows-125\d|cp125\d|koi8-[ru]|gbk|gb2312|gb18030|big5"
    r"|shift_jis|euc-(?:jp|kr)",
    re.IGNORECASE,
)
# XML forbids them, and WordPress writes them.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def elements(source: Source, shape: Shape) -> Iterator[Element | Unusable]:
    """The records of a file in its order; at its end, or at damage, a row that says where and why it ended."""
    parser = Parser(shape)
    reason = ""
    damaged = 0
    try:
        for text in _texts(source, shape):
            parser.feed(text)
            damaged += sum(map(_is_damaged, parser.done))
            yield from _take(parser)
        parser.feed("", is_last=True)
    except CutOff:
        reason = "The compressed file is cut off or damaged"
    except expat.ExpatError as error:
        reason = f"The XML is cut off or damaged: {expat.ErrorString(error.code)}"
    except TooLong as error:
        reason = f"The XML cannot be read further: {error}"
    yield from _take(parser)
    if damaged:
        shown = "Bytes that are no text of the file's encoding are shown as \ufffd"
        yield Unusable("", "", f"{shown}. Comments: {damaged}.")
    if not reason:
        return
    if not parser.is_started:
        raise shape.no_export()
    line, column = parser.expat.CurrentLineNumber, parser.expat.CurrentColumnNumber
    yield Unusable("", "", f"{reason}, in line {line}, column {column}. What follows is not read.")


def _is_damaged(element: Element) -> bool:
    return any("\ufffd" in value for value in element.fields.values())


def _take(parser: Parser) -> list[Element]:
    taken, parser.done = parser.done, []
    return taken


def _texts(source: Source, shape: Shape) -> Iterator[str]:
    """The text of the file. Bytes that are none of its encoding become U+FFFD."""
    pieces = source.pieces()
    first = next(pieces, b"").lstrip()
    if not first:
        raise UnreadableFile(f"The file is empty. An export of {shape.name} is expected.")
    decoder = codecs.getincrementaldecoder(_encoding(first))(errors="replace")
    for piece in chain([first], pieces):
        text = decoder.decode(piece)
        yield FORBIDDEN.sub("", text) if FORBIDDEN.search(text) else text


def _encoding(first: bytes) -> str:
    for mark, encoding in MARKS:
        if first.startswith(mark):
            return encoding
    match = DECLARED.match(first)
    name = match[1].decode() if match else "utf-8"
    if not ENCODINGS.fullmatch(name):
        raise UnreadableFile(f"The file names the encoding {name}, which is not known. Convert it to UTF-8.")
    return name
