from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from messaging.word_lists.characters import EVERY_MARK, MARKS, SIGNS, UNSPACED, UNSPACED_LETTER
from messaging.word_lists.folding import fold

WORD_MAX = 100
# The maximal number of signs before the first and after the last word of an entry.
SIGNS_MAX = 4

# An entry that is a sentence has about 20 words and 100 characters (300 bytes in Hindi).
LIST_WORDS_MAX = 12_500
LIST_BYTES_MAX = 200_000

_PLAIN_WORD = re.compile(r"\w+")
# Underscores are part of a word only inside it (`bad_word`): `_bad_` matches `bad`.
_JOINED_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
# A letter of a script without spaces ends the word beside it and is a word itself, with its marks.
_UNSPACED = re.compile(f"[{UNSPACED}]")
_PART = rf"[^\W_{UNSPACED}](?:[^\W_{UNSPACED}]|[{MARKS}])*"
_MARKED_WORD = re.compile(rf"{_PART}(?:_+{_PART})*|{UNSPACED_LETTER}")
_HAS_SIGNS = re.compile(f"[{SIGNS}]")
_SEPARATORS = rf"(?:_|[^\w{SIGNS}{MARKS}])+"
_SEPARATOR_EDGES = re.compile(rf"^{_SEPARATORS}|{_SEPARATORS}$")


class Fault(StrEnum):
    TOO_LONG = "too_long"
    NO_LETTER = "no_letter"
    TOO_MANY_SIGNS = "too_many_signs"
    LIST_TOO_LARGE = "list_too_large"


class InvalidWord(ValueError):
    """An entry that could match no text, or is too long. The message states the reason; `fault` is for translations."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Entry:
    """Consecutive `words` match; with `prefix`, the last one matches the beginning of a word. `key`: see `join`.

    `spelling` is set if the entry contains signs: the text must then contain exactly this spelling, with `before`
    characters before its first word and `after` characters after its last.
    """

    word: str
    words: tuple[str, ...]
    key: str
    prefix: bool
    spelling: str | None
    before: int
    after: int


def word_pattern(folded: str) -> re.Pattern[str]:
    """The cheapest pattern that finds the words of this text; the last one costs eight times the first."""
    if folded.isascii() or (EVERY_MARK.isdisjoint(folded) and not _UNSPACED.search(folded)):
        return _JOINED_WORD if "_" in folded else _PLAIN_WORD
    return _MARKED_WORD


def join(folded: str, spans: Sequence[tuple[int, int]]) -> str:
    """The words at these places, with a space where the text has something between two of them.

    So letters of a script without spaces match side by side only, and other words across any separator.
    """
    parts, at = list[str](), 0
    for start, end in spans:
        parts.append(folded[start:end] if start == at else f" {folded[start:end]}")
        at = end
    return "".join(parts).removeprefix(" ")


def parse_entry(word: str) -> Entry:
    """Parse one entry of a word list; raises `InvalidWord`."""
    if len(word) > WORD_MAX:
        raise InvalidWord(Fault.TOO_LONG, f"A blocked word has at most {WORD_MAX} characters")
    folded = fold(word).strip()
    stem = folded.rstrip("*")
    spelling = _SEPARATOR_EDGES.sub("", stem).rstrip("!")
    spans = [match.span() for match in word_pattern(spelling).finditer(spelling)]
    if not spans:
        raise InvalidWord(Fault.NO_LETTER, f"A blocked word needs a letter or a digit: {word!r}")
    before, after = spans[0][0], len(spelling) - spans[-1][1]
    if max(before, after) > SIGNS_MAX:
        raise InvalidWord(
            Fault.TOO_MANY_SIGNS, f"A blocked word has at most {SIGNS_MAX} signs on either side: {word!r}"
        )
    *first, last = (spelling[start:end] for start, end in spans)
    prefix = folded.endswith("*") and not after
    tail = _underscores_after(last, stem) if prefix else ""
    return Entry(
        word,
        (*first, last + tail),
        join(spelling, spans) + tail,
        prefix=prefix,
        spelling=spelling + tail if _HAS_SIGNS.search(spelling) else None,
        before=before,
        after=after,
    )


def _underscores_after(last: str, stem: str) -> str:
    """The underscores before a `*`, which are inside a word: `bad_*` matches `bad_word` and not `badge`."""
    tail = stem[len(stem.rstrip("_")) :]
    return tail if stem.endswith(last + tail) else ""


def parse_entries(words: Iterable[str]) -> Iterator[Entry]:
    """The valid entries of a list. An earlier release may have saved invalid ones."""
    for word in words:
        with suppress(InvalidWord):
            yield parse_entry(word)


def check_words(words: Iterable[str]) -> None:
    """Raises `InvalidWord` if an entry is invalid or the list is too large."""
    total_words = total_bytes = 0
    for entry in map(parse_entry, words):
        total_words += entry.key.count(" ") + 1
        total_bytes += sum(len(word.encode()) for word in entry.words)
    if total_words > LIST_WORDS_MAX:
        message = f"A list has at most {LIST_WORDS_MAX} words in all its entries, this one has {total_words}"
        raise InvalidWord(Fault.LIST_TOO_LARGE, message)
    if total_bytes > LIST_BYTES_MAX:
        message = f"A list has at most {LIST_BYTES_MAX} bytes in all its entries, this one has {total_bytes}"
        raise InvalidWord(Fault.LIST_TOO_LARGE, message)
