r"""Word lists: which texts a community or an embed refuses.

What an owner writes in a list, and what it then matches:

- `cialis` matches the word wherever it stands, in any case and width, also with characters in it that are shown as
  nothing, and never a part of a longer word (`specialist`).
- `buy now` matches over any run of spaces and punctuation: `Buy -- NOW`. So does `e-mail`: `e mail`, but not `email`.
- `spam*` matches every word that begins so: `spammer`, not `antispam`.
- Signs that stand in for letters are taken as they are: `a$$` matches `a$$` and not the article `a`, `C++` not the
  letter. Punctuation around an entry is dropped.

Word characters are those of `\w` and the combining marks of a script. Underscores belong to a word inside it only:
`bad` matches `_bad_` and `*bad*`, not the identifier `bad_word`, which is one word, matched by `bad_word` or `bad_*`.

A text in a script that is written without spaces (Chinese, Japanese, Thai, ...) is one word from one space or
punctuation mark to the next: there an entry matches where it is alone, and an entry with `*` also where such a
stretch begins with it. Nothing cuts such a text into words without a dictionary, and matching inside it would be
matching substrings.

Diacritics count (`resume` is not `résumé`), but marks laid over letters that have no such form do not (`s̶p̶a̶m̶`).

A list is compiled once, and a text is read once for any length of the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from sys import getsizeof

from messaging.word_lists.cache import BoundedCache
from messaging.word_lists.entries import WORD_MAX, InvalidWord, check_words, parse_entries
from messaging.word_lists.folding import fold, origins
from messaging.word_lists.phrases import Match, Phrases

__all__ = ["MATCHES_MAX", "WORD_MAX", "InvalidWord", "Match", "WordList", "check_words", "compile_words"]

MATCHES_MAX = 1_000
# What the compiled lists of a process may take: some 100 of the largest allowed ones, or thousands of usual ones.
COMPILED_BYTES_MAX = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class WordList:
    """A compiled list; equal to any other of the same words."""

    words: tuple[str, ...]
    _phrases: Phrases = field(compare=False, repr=False)

    def matches(self, text: str) -> list[Match]:
        """The first `MATCHES_MAX` matches, overlapping ones included; positions are those of `text` as given."""
        return list(islice(self._search(text), MATCHES_MAX))

    def first_match(self, text: str) -> Match | None:
        return next(self._search(text), None)

    def _search(self, text: str) -> Iterator[Match]:
        if not self.words:
            return
        places: tuple[list[int], list[int]] | None = None
        for word, start, end in self._phrases.search(fold(text)):
            starts, ends = places = places or origins(text)
            yield Match(word, starts[start], ends[end - 1])


def compile_words(words: Iterable[str]) -> WordList:
    """Leaves out entries that `check_words` refuses: they may have been saved before it did."""
    return _compiled.get(tuple(words))


def _compile(words: tuple[str, ...]) -> WordList:
    return WordList(words, Phrases.of(parse_entries(words)))


def _size(word_list: WordList) -> int:
    return getsizeof(word_list.words) + sum(map(getsizeof, word_list.words)) + word_list._phrases.size()


_compiled = BoundedCache(make=_compile, size=_size, bytes_max=COMPILED_BYTES_MAX)
