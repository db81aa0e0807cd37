from __future__ import annotations

import re
from dataclasses import dataclass

from messaging.word_lists.characters import EVERY_MARK, MARKS, SIGNS
from messaging.word_lists.folding import fold

WORD_MAX = 100
# Signs before the first and after the last word of an entry.
SIGNS_MAX = 4

_PLAIN_WORD = re.compile(r"\w+")
_MARKED_WORD = re.compile(rf"\w(?:\w|[{MARKS}])*")
_HAS_SIGNS = re.compile(f"[{SIGNS}]")
_SEPARATOR_EDGES = re.compile(rf"^[^\w{SIGNS}{MARKS}]+|[^\w{SIGNS}{MARKS}]+$")


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
    """What finds the words of this text. The pattern that knows of marks costs eight times the other."""
    return _PLAIN_WORD if folded.isascii() or EVERY_MARK.isdisjoint(folded) else _MARKED_WORD


def parse_entry(word: str) -> Entry:
    """Reads one line of a word list; raises `InvalidWord`."""
    if len(word) > WORD_MAX:
        raise InvalidWord(f"A blocked word has at most {WORD_MAX} characters")
    folded = fold(word).strip()
    spelling = _SEPARATOR_EDGES.sub("", folded.rstrip("*")).rstrip("!")
    found = list(word_pattern(spelling).finditer(spelling))
    if not found:
        raise InvalidWord(f"A blocked word needs a letter or a digit: {word!r}")
    before, after = found[0].start(), len(spelling) - found[-1].end()
    if max(before, after) > SIGNS_MAX:
        raise InvalidWord(f"A blocked word has at most {SIGNS_MAX} signs on either side: {word!r}")
    return Entry(
        word,
        tuple(match.group() for match in found),
        prefix=folded.endswith("*") and not after,
        spelling=spelling if _HAS_SIGNS.search(spelling) else None,
        before=before,
        after=after,
    )
