from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from messaging.word_lists.phrases import Match


class Piece(NamedTuple):
    """A part of a text, and the entries that match in it, if any."""

    text: str
    words: tuple[str, ...]


def marked(text: str, matches: Iterable[Match]) -> list[Piece]:
    """The text split into matching and other pieces; overlapping matches are one piece."""
    return [piece for piece in _pieces(text, sorted(matches, key=lambda match: match.start)) if piece.text]


def _pieces(text: str, matches: Sequence[Match]) -> Iterator[Piece]:
    at = 0
    for start, end, words in _runs(matches):
        yield Piece(text[at:start], ())
        yield Piece(text[start:end], tuple(dict.fromkeys(words)))
        at = end
    yield Piece(text[at:], ())


def _runs(matches: Sequence[Match]) -> Iterator[tuple[int, int, list[str]]]:
    start, end, words = 0, 0, list[str]()
    for match in matches:
        if words and match.start >= end:
            yield start, end, words
            words = []
        if not words:
            start, end = match.start, match.end
        end = max(end, match.end)
        words.append(match.word)
    if words:
        yield start, end, words
