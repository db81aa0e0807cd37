from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from sys import getsizeof
from typing import NamedTuple

from messaging.word_lists.entries import Entry, join, word_pattern

# The number of words of some entries, the lengths of their last words that are prefixes, and whether some are whole.
Shape = tuple[int, tuple[int, ...], bool]
WHOLE = 0
# The memory of each, without the text of its key.
ENDS_BYTES, SHAPE_BYTES, SPELLING_BYTES = 150, 200, 600


class Match(NamedTuple):
    """An entry of the list, as written, and the part of the text that it matches (`text[start:end]`)."""

    word: str
    start: int
    end: int


@dataclass(slots=True)
class Ends:
    """The entries with the same words, which may differ in the signs between and around them."""

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
            # A slice with a negative start is shorter than any spelling with these sides, so it does not match.
            if self.spellings and (word := self.spellings.get(folded[start - before : end + after])):
                yield Match(word, start - before, end + after)


@dataclass(slots=True)
class Phrases:
    """A compiled list, with one key per entry.

    The keys of `ends` are those of the entries (see `join`), with `*` after a prefix. For each word of the text,
    these keys are looked up: the word, its prefixes with the lengths in `prefixes`, and longer entries by the `shapes`
    of their first word.
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
            phrases.ends.setdefault(entry.key + ("*" if entry.prefix else ""), Ends()).add(entry)
        phrases.prefixes = tuple(sorted(shapes.pop("", {}).get(1, set()) - {WHOLE}))
        phrases.shapes = {
            word: tuple((count, tuple(sorted(ends - {WHOLE})), WHOLE in ends) for count, ends in sorted(by.items()))
            for word, by in shapes.items()
        }
        return phrases

    def size(self) -> int:
        """The approximate memory in bytes."""
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

        For each word that begins an entry, one key is looked up per number of words of the entries that begin with it,
        so the cost is at most proportional to the words of the text times these numbers. In most texts, no word begins
        an entry.
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
        """Entries of two words or more. The innermost loop: attributes are read once."""
        entries, joined, opening = self.ends, text.joined, text.starts[first]
        for count, lengths, whole in self.shapes[text.words[first]]:
            last = first + count - 1
            if last >= len(text.words):
                return
            start, end = text.starts[last], text.ends[last]
            for length in lengths:
                if start + length > end:
                    break
                if ends := entries.get(joined[opening : start + length] + "*"):
                    yield from ends.matches(text.folded, text.spans[first][0], text.spans[last][0] + length)
            if whole and (ends := entries.get(joined[opening:end])):
                yield from ends.matches(text.folded, text.spans[first][0], text.spans[last][1])


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a folded text, also `joined` as in the keys of a list."""

    folded: str
    spans: list[tuple[int, int]]
    words: list[str]
    joined: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, folded: str, spans: list[tuple[int, int]]) -> Words:
        words = [folded[start:end] for start, end in spans]
        between = (start > end for (_, end), (start, _) in pairwise(spans))
        starts, at = [0], 0
        for word, is_apart in zip(words, between, strict=False):
            at += len(word) + is_apart
            starts.append(at)
        ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
        return cls(folded, spans, words, join(folded, spans), starts, ends)
