"""JSON of foreign exports, a line or an element at a time, with bounds for what a file can make long or deep."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from moving.formats.source import Source

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
