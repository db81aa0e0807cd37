"""Reads XML as a stream of flat records. Damage ends it with a row of the report.

Document types are refused: exports have none, and entities and outside files begin there.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import chain
from xml.parsers import expat

from moving.formats.records import UnreadableFile, Unusable
from moving.formats.source import CutOff, Source
from moving.formats.xml_parser import Element, Parser, Shape, TooLong

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
