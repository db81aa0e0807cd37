"""Feeds expat, and makes flat records of the elements that a format declares. Memory is bounded."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from xml.parsers import expat

from moving.formats.records import UnreadableFile

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
