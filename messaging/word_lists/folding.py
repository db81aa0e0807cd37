"""Folds the spellings of a text to one form: NFKC, case-folded, without invisible characters and optional marks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from messaging.word_lists.characters import EVERY_MARK, JOINING_LETTERS, MARKS, OPTIONAL_MARKS, OVERLAYS, ZERO_WIDTH

# NFKC sorts a run of marks in quadratic time: 20,000 marks take 600 ms. No script uses more than a few in a row.
PILE_MAX = 8

_ZERO_WIDTH = re.compile(f"[{ZERO_WIDTH}]+")
_LEFT_OVER = re.compile(f"[{ZERO_WIDTH}{OVERLAYS}{OPTIONAL_MARKS}]+")
_PILE = re.compile(f"[{MARKS}][{MARKS}]{{{PILE_MAX},}}")
_JOINS = re.compile(f"[{MARKS}{JOINING_LETTERS}{ZERO_WIDTH}]")


def fold(text: str) -> str:
    """`Straße`, `STRASSE`, full-width spellings and spellings with zero-width characters become one.

    `I`, `İ` and `ı` fold to `i`, because the lower case of `I` depends on the language, which is unknown.
    """
    text = _ZERO_WIDTH.sub("", text)
    if text.isascii():
        return text.lower()
    if not EVERY_MARK.isdisjoint(text):
        text = _PILE.sub(_top_off, text)
    text = unicodedata.normalize("NFKC", text).casefold()
    return _LEFT_OVER.sub("", unicodedata.normalize("NFKC", text)).replace("ı", "i")


def _top_off(pile: re.Match[str]) -> str:
    return pile.group()[:PILE_MAX]


def origins(text: str) -> tuple[list[int], list[int]]:
    """For each character of `fold(text)`, the start and the end of its source in `text`."""
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _pieces(text):
        length = len(fold(text[start:end]))
        starts += [start] * length
        ends += [end] * length
    return starts, ends


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Splits a text where folding does not combine characters, so that the folded pieces join to the folded text."""
    start = 0
    for at, character in enumerate(text):
        if at and not _joins_preceding(character):
            yield start, at
            start = at
    if text:
        yield start, len(text)


@lru_cache(maxsize=4096)
def _joins_preceding(character: str) -> bool:
    return _JOINS.match(unicodedata.normalize("NFKD", character)) is not None
