from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from messaging.word_lists.characters import EVERY_MARK, MARKS, SIGNS
from messaging.word_lists.folding import fold

WORD_MAX = 100
# Signs before the first and after the last word of an entry.
SIGNS_MAX = 4

# A list of sentences has some 20 words and 100 characters (300 bytes in Hindi) an entry.
LIST_WORDS_MAX = 12_500
LIST_BYTES_MAX = 200_000

_PLAIN_WORD = re.compile(r"\w+")
# Underscores belong to a word inside it only (`bad_word`): those around it hide nothing (`_bad_`).
_JOINED_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_MARKED_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*(?:_+[^\W_](?:[^\W_]|[{MARKS}])*)*")
_HAS_SIGNS = re.compile(f"[{SIGNS}]")
_SEPARATORS = rf"(?:_|[^\w{SIGNS}{MARKS}])+"
_SEPARATOR_EDGES = re.compile(rf"^{_SEPARATORS}|{_SEPARATORS}$")


class InvalidWord(ValueError):
    """An entry that no text could match, or that would match far too much. The message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """`words` in a row match; the last may be the beginning of a word where `prefix` holds.

    `spelling` is set where signs belong to the entry: it must then stand in the text just so, `before` and `after`
    being the lengths of what it has on either side of its words.
    """

    word: str
    words: tuple[str, ...]
    prefix: bool
    spelling: str | None
    before: int
    after: int


def word_pattern(folded: str) -> re.Pattern[str]:
    """What finds the words of this text: the cheapest pattern that does, the one that knows of marks costs eight times
    the first."""
    if folded.isascii() or EVERY_MARK.isdisjoint(folded):
        return _JOINED_WORD if "_" in folded else _PLAIN_WORD
    return _MARKED_WORD


def parse_entry(word: str) -> Entry:
    """Reads one line of a word list; raises `InvalidWord`."""
    if len(word) > WORD_MAX:
        raise InvalidWord(f"A blocked word has at most {WORD_MAX} characters")
    folded = fold(word).strip()
    stem = folded.rstrip("*")
    spelling = _SEPARATOR_EDGES.sub("", stem).rstrip("!")
    found = list(word_pattern(spelling).finditer(spelling))
    if not found:
        raise InvalidWord(f"A blocked word needs a letter or a digit: {word!r}")
    before, after = found[0].start(), len(spelling) - found[-1].end()
    if max(before, after) > SIGNS_MAX:
        raise InvalidWord(f"A blocked word has at most {SIGNS_MAX} signs on either side: {word!r}")
    *first, last = (match.group() for match in found)
    prefix = folded.endswith("*") and not after
    tail = _underscores_after(last, stem) if prefix else ""
    return Entry(
        word,
        (*first, last + tail),
        prefix=prefix,
        spelling=spelling + tail if _HAS_SIGNS.search(spelling) else None,
        before=before,
        after=after,
    )


def _underscores_after(last: str, stem: str) -> str:
    """`bad_*` finds `bad_word` and not `badge`: before a `*`, underscores are inside a word."""
    tail = stem[len(stem.rstrip("_")) :]
    return tail if stem.endswith(last + tail) else ""


def parse_entries(words: Iterable[str]) -> Iterator[Entry]:
    """Those of a list that can be read. Lists that were saved under other rules keep working without the others."""
    for word in words:
        with suppress(InvalidWord):
            yield parse_entry(word)


def check_words(words: Iterable[str]) -> None:
    """Raises `InvalidWord` for a list that may not be saved: an entry is wrong, or the whole is too large."""
    total_words = total_bytes = 0
    for entry in map(parse_entry, words):
        total_words += len(entry.words)
        total_bytes += sum(len(word.encode()) for word in entry.words)
    if total_words > LIST_WORDS_MAX:
        raise InvalidWord(f"A list has at most {LIST_WORDS_MAX} words in all its entries, this one has {total_words}")
    if total_bytes > LIST_BYTES_MAX:
        raise InvalidWord(f"A list has at most {LIST_BYTES_MAX} bytes in all its entries, this one has {total_bytes}")
