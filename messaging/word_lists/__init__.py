r"""Word lists: which texts a community or an embed refuses.

What an owner writes in a list, and what it then matches:

- `cialis` matches the word wherever it stands, in any case and width, also with characters in it that are shown as
  nothing, and never a part of a longer word (`specialist`).
- `buy now` matches over any run of spaces and punctuation: `Buy -- NOW`. So does `e-mail`: `e mail`, but not `email`.
- `spam*` matches every word that begins so: `spammer`, not `antispam`.
- Signs that stand in for letters are taken as they are: `a$$` matches `a$$` and not the article `a`, `C++` not the
  letter. Punctuation around an entry is dropped.

Word characters are those of `\w` and the combining marks of a script. A text in a script that is written without
spaces (Chinese, Japanese, Thai, ...) is one word from one space or punctuation mark to the next: there an entry matches
where it stands alone, and an entry with `*` also where such a stretch begins with it. Nothing cuts such a text into
words without a dictionary, and matching inside it would be matching substrings.

Diacritics count (`resume` is not `résumé`), but marks laid over letters that have no such form do not (`s̶p̶a̶m̶`).

A list is compiled once and kept, and a text is read once, whatever the length of the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from messaging.word_lists.entries import WORD_MAX, InvalidWord, parse_entry
from messaging.word_lists.folding import fold, origins
from messaging.word_lists.trie import Match, Node, grow, search

__all__ = ["MATCHES_MAX", "WORD_MAX", "InvalidWord", "Match", "WordList", "compile_words"]

MATCHES_MAX = 1_000
# A list of 500 long phrases takes 6 MB, a usual one some kB.
KEPT_LISTS = 64


@dataclass(frozen=True, slots=True)
class WordList:
    """A compiled list; equal to any other of the same words."""

    words: tuple[str, ...]
    _root: Node = field(compare=False, repr=False)

    def matches(self, text: str) -> list[Match]:
        """The first `MATCHES_MAX` matches, overlapping ones included; positions are those of `text` as given."""
        return list(islice(self._search(text), MATCHES_MAX))

    def first_match(self, text: str) -> Match | None:
        return next(self._search(text), None)

    def _search(self, text: str) -> Iterator[Match]:
        if not self.words:
            return
        places: tuple[list[int], list[int]] | None = None
        for word, start, end in search(self._root, fold(text)):
            starts, ends = places = places or origins(text)
            yield Match(word, starts[start], ends[end - 1])


def compile_words(words: Iterable[str]) -> WordList:
    """Raises `InvalidWord` for an entry without a letter or digit, or longer than `WORD_MAX`."""
    return _compiled(tuple(words))


@lru_cache(maxsize=KEPT_LISTS)
def _compiled(words: tuple[str, ...]) -> WordList:
    return WordList(words, grow(map(parse_entry, words)))
