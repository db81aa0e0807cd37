from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from sys import getsizeof
from typing import NamedTuple

from messaging.word_lists.entries import Entry, word_pattern

# A number of words that entries have, the lengths of the last one where it is a prefix, and whether some are whole.
Shape = tuple[int, tuple[int, ...], bool]
WHOLE = 0
# What each takes beside the text of its key.
ENDS_BYTES, SHAPE_BYTES, SPELLING_BYTES = 150, 200, 600


class Match(NamedTuple):
    """An entry of the list, as its owner wrote it, and the part of the text it matches (`text[start:end]`)."""

    word: str
    start: int
    end: int


@dataclass(slots=True)
class Ends:
    """The entries that consist of the same words, and differ in the signs between and around them at most."""

    phrase: str | None = None
    spellings: dict[str, str] | None = None
    sides: tuple[tuple[int, int], ...] = ()

    def add(self, entry: Entry) -> None:
        if entry.spelling is None:
            self.phrase = self.phrase or entry.word
        else:
            self.spellings = self.spellings or {}
            self.spellings.setdefault(entry.spelling, entry.word)
            self.sides = tuple({*self.sides, (entry.before, entry.after)})

    def matches(self, folded: str, start: int, end: int) -> Iterator[Match]:
        if self.phrase is not None:
            yield Match(self.phrase, start, end)
        for before, after in self.sides:
            # A slice that would begin before the text comes out shorter than any spelling of these sides.
            if self.spellings and (word := self.spellings.get(folded[start - before : end + after])):
                yield Match(word, start - before, end + after)


@dataclass(slots=True)
class Phrases:
    """A compiled list: one key for each entry, for any number of words.

    `ends` holds the words of an entry, joined by spaces, `*` after a prefix. What to look up from a word of the text:
    the word, its beginnings of the lengths in `prefixes`, and longer entries by the `shapes` of their first word.
    """

    ends: dict[str, Ends] = field(default_factory=dict)
    shapes: dict[str, tuple[Shape, ...]] = field(default_factory=dict)
    prefixes: tuple[int, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Phrases:
        phrases = cls()
        shapes: dict[str, dict[int, set[int]]] = {}
        for entry in entries:
            *others, last = entry.words
            lengths = shapes.setdefault(others[0] if others else "", {}).setdefault(len(entry.words), set())
            lengths.add(len(last) if entry.prefix else WHOLE)
            key = " ".join(entry.words) + ("*" if entry.prefix else "")
            phrases.ends.setdefault(key, Ends()).add(entry)
        phrases.prefixes = tuple(sorted(shapes.pop("", {}).get(1, set()) - {WHOLE}))
        phrases.shapes = {
            word: tuple((count, tuple(sorted(found - {WHOLE})), WHOLE in found) for count, found in sorted(by.items()))
            for word, by in shapes.items()
        }
        return phrases

    def size(self) -> int:
        """Bytes of memory, about."""
        keys = sum(map(getsizeof, self.ends)) + sum(map(getsizeof, self.shapes))
        shapes = sum(map(len, self.shapes.values()))
        spellings = sum(len(ends.spellings or ()) for ends in self.ends.values())
        return keys + ENDS_BYTES * len(self.ends) + SHAPE_BYTES * shapes + SPELLING_BYTES * spellings

    def opens(self, word: str) -> bool:
        """Whether an entry begins with this word."""
        return (
            word in self.ends
            or word in self.shapes
            or any(f"{word[:length]}*" in self.ends for length in self.prefixes)
        )

    def search(self, folded: str) -> Iterator[Match]:
        """All matches in a folded text, in the order of their first words.

        From each word that opens an entry, one key is looked up for each number of words of the entries with it, so
        the work is bounded by the words of the text times those. Most texts open no entry at all.
        """
        pattern = word_pattern(folded)
        openers = {word for word in set(pattern.findall(folded)) if self.opens(word)}
        if not openers:
            return
        text = Words.of(folded, [match.span() for match in pattern.finditer(folded)])
        for first, word in enumerate(text.words):
            if word in openers:
                yield from self._from_word(text, first)

    def _from_word(self, text: Words, first: int) -> Iterator[Match]:
        word, (start, end) = text.words[first], text.spans[first]
        for length in self.prefixes:
            if length <= len(word) and (ends := self.ends.get(f"{word[:length]}*")):
                yield from ends.matches(text.folded, start, start + length)
        if ends := self.ends.get(word):
            yield from ends.matches(text.folded, start, end)
        if word in self.shapes:
            yield from self._longer(text, first)

    def _longer(self, text: Words, first: int) -> Iterator[Match]:
        """Entries of two words or more; the innermost loop, so it looks nothing up twice."""
        held, joined, opening = self.ends, text.joined, text.starts[first]
        for count, lengths, whole in self.shapes[text.words[first]]:
            last = first + count - 1
            if last >= len(text.words):
                return
            start, end = text.starts[last], text.ends[last]
            for length in lengths:
                if start + length > end:
                    break
                if ends := held.get(joined[opening : start + length] + "*"):
                    yield from ends.matches(text.folded, text.spans[first][0], text.spans[last][0] + length)
            if whole and (ends := held.get(joined[opening:end])):
                yield from ends.matches(text.folded, text.spans[first][0], text.spans[last][1])


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a folded text, and the same `joined` by spaces, as the keys of a list are."""

    folded: str
    spans: list[tuple[int, int]]
    words: list[str]
    joined: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, folded: str, spans: list[tuple[int, int]]) -> Words:
        words = [folded[start:end] for start, end in spans]
        ends = list(accumulate((len(word) + 1 for word in words), initial=-1))[1:]
        starts = [end - len(word) for end, word in zip(ends, words, strict=True)]
        return cls(folded, spans, words, " ".join(words), starts, ends)
