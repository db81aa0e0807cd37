"""The lines of a file in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from moving.formats.source import CutOff, Source

LINE_MAX = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """`problem`: why there is no content; one sentence for the report."""

    number: int
    content: bytes
    problem: str = ""


def lines_of(source: Source) -> Iterator[Line]:
    """Lines that are not empty. One of more than LINE_MAX bytes has no content, and is not in memory."""
    number = 1
    buffer = bytearray()
    is_over_long = False
    for piece in _pieces(source):
        if isinstance(piece, str):
            yield Line(number, b"", piece)
            return
        *ends, rest = piece.split(b"\n")
        for end in ends:
            if not is_over_long:
                buffer += end
            yield from _line(number, buffer, is_over_long=is_over_long)
            buffer.clear()
            is_over_long = False
            number += 1
        if is_over_long or len(buffer) + len(rest) > LINE_MAX:
            is_over_long = True
            buffer.clear()
        else:
            buffer += rest
    yield from _line(number, buffer, is_over_long=is_over_long)


def _line(number: int, content: bytearray, *, is_over_long: bool) -> Iterator[Line]:
    if is_over_long:
        yield Line(number, b"", f"it has more than {LINE_MAX // 1024**2} MB.")
    elif stripped := content.strip():
        yield Line(number, bytes(stripped))


def _pieces(source: Source) -> Iterator[bytes | str]:
    try:
        yield from source.pieces()
    except CutOff as failure:
        yield f"the compressed file ends here: {failure}."
