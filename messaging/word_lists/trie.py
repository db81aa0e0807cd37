from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from messaging.word_lists.entries import Entry, word_pattern


class Match(NamedTuple):
    """An entry of the list, as its owner wrote it, and the part of the text it matches (`text[start:end]`)."""

    word: str
    start: int
    end: int


@dataclass(slots=True)
class Ends:
    """The entries that end at one place of the trie."""

    phrase: str | None = None
    spellings: dict[str, str] = field(default_factory=dict)
    sides: set[tuple[int, int]] = field(default_factory=set)

    def add(self, entry: Entry) -> None:
        if entry.spelling is None:
            self.phrase = self.phrase or entry.word
        else:
            self.spellings.setdefault(entry.spelling, entry.word)
            self.sides.add((entry.before, entry.after))

    def matches(self, folded: str, start: int, end: int) -> Iterator[Match]:
        if self.phrase is not None:
            yield Match(self.phrase, start, end)
        for before, after in self.sides:
            # A slice that would begin before the text comes out shorter than any spelling of these sides.
            if word := self.spellings.get(folded[start - before : end + after]):
                yield Match(word, start - before, end + after)


@dataclass(slots=True)
class Node:
    """A place in the trie: the words read so far led here. A list may have 25,000, so each holds only what it must."""

    following: dict[str, Node] | None = None
    ends: Ends | None = None
    prefixes: dict[str, Ends] | None = None
    prefix_lengths: tuple[int, ...] = ()

    def add(self, entry: Entry) -> None:
        *first, last = entry.words
        node = self
        for word in first:
            node = node._next(word)
        ends = node._prefix(last) if entry.prefix else node._next(last)._ends()
        ends.add(entry)

    def opens(self, word: str) -> bool:
        return word in (self.following or ()) or any(
            word[:length] in (self.prefixes or ()) for length in self.prefix_lengths
        )

    def _next(self, word: str) -> Node:
        self.following = self.following or {}
        return self.following.setdefault(word, Node())

    def _ends(self) -> Ends:
        self.ends = self.ends or Ends()
        return self.ends

    def _prefix(self, prefix: str) -> Ends:
        self.prefixes = self.prefixes or {}
        self.prefix_lengths = tuple(sorted({*self.prefix_lengths, len(prefix)}))
        return self.prefixes.setdefault(prefix, Ends())


def grow(entries: Iterable[Entry]) -> Node:
    root = Node()
    for entry in entries:
        root.add(entry)
    return root


def search(root: Node, folded: str) -> Iterator[Match]:
    """All matches in a folded text, in the order of their first words.

    From each word the trie is followed for as long as an entry goes on, so the work is bounded by the words of the text
    times the words of the longest entry. Most texts open no entry at all, and end at the third line.
    """
    pattern = word_pattern(folded)
    openers = {word for word in set(pattern.findall(folded)) if root.opens(word)}
    if not openers:
        return
    spans = [match.span() for match in pattern.finditer(folded)]
    words = [folded[start:end] for start, end in spans]
    for first, word in enumerate(words):
        if word in openers:
            yield from _from_word(root, folded, spans, words, first)


def _from_word(root: Node, folded: str, spans: list[tuple[int, int]], words: list[str], first: int) -> Iterator[Match]:
    node, opening = root, spans[first][0]
    for at in range(first, len(words)):
        word, (start, end) = words[at], spans[at]
        if node.prefixes:
            for length in node.prefix_lengths:
                if ends := length <= len(word) and node.prefixes.get(word[:length]):
                    yield from ends.matches(folded, opening, start + length)
        if not node.following or not (following := node.following.get(word)):
            return
        node = following
        if node.ends:
            yield from node.ends.matches(folded, opening, end)
