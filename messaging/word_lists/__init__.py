r"""Word lists: the blocked words of a community or an embed.

The entries of a list, and the text that they match:

- `cialis` matches the word in any position, case and width, also with invisible characters in it, but not as part of a
  longer word (`specialist`).
- `buy now` matches across any run of spaces and punctuation: `Buy -- NOW`. `e-mail` matches `e mail`, but not `email`.
- `spam*` matches every word with this prefix: `spammer`, not `antispam`.
- Signs that replace letters match literally: `a$$` matches `a$$` and not the article `a`, `C++` not the letter.
  Punctuation around an entry is dropped.

Word characters are those of `\w` and the combining marks of a script. Underscores are part of a word only inside it:
`bad` matches `_bad_` and `*bad*`, not the identifier `bad_word`, which is one word, matched by `bad_word` or `bad_*`.

In scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) and in Korean, each letter is a word, and those
of an entry match side by side: `賭博` matches in `賭博です`, `casino` in `casinoです`. Splitting such text into words
needs a dictionary.

Diacritics are significant (`resume` is not `résumé`), but overlays on letters are ignored (`s̶p̶a̶m̶`), and so are the
vowel signs of Arabic and Hebrew.

A list is compiled once. A text is scanned once, independent of the length of the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from sys import getsizeof

from messaging.word_lists.cache import BoundedCache
from messaging.word_lists.entries import WORD_MAX, Fault, InvalidWord, check_words, parse_entries
from messaging.word_lists.folding import fold, origins
from messaging.word_lists.phrases import Match, Phrases

__all__ = ["MATCHES_MAX", "WORD_MAX", "Fault", "InvalidWord", "Match", "WordList", "check_words", "compile_words"]

MATCHES_MAX = 1_000
# The memory for the compiled lists of a process: 60 to 180 lists of the maximal size, or thousands of usual ones.
COMPILED_BYTES_MAX = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class WordList:
    """A compiled list. Lists with the same words are equal."""

    words: tuple[str, ...]
    _phrases: Phrases = field(compare=False, repr=False)

    def matches(self, text: str) -> list[Match]:
        """The first `MATCHES_MAX` matches, overlapping ones included, with positions in the original `text`."""
        return list(islice(self._search(text), MATCHES_MAX))

    def first_match(self, text: str) -> Match | None:
        return next(self._search(text), None)

    def _search(self, text: str) -> Iterator[Match]:
        if not self.words:
            return
        offsets: tuple[list[int], list[int]] | None = None
        for word, start, end in self._phrases.search(fold(text)):
            starts, ends = offsets = offsets or origins(text)
            yield Match(word, starts[start], ends[end - 1])


def compile_words(words: Iterable[str]) -> WordList:
    """Compile a list, without the entries that `check_words` refuses: an earlier release may have saved them."""
    return _compiled.get(tuple(words))


def _compile(words: tuple[str, ...]) -> WordList:
    return WordList(words, Phrases.of(parse_entries(words)))


def _size(word_list: WordList) -> int:
    return getsizeof(word_list.words) + sum(map(getsizeof, word_list.words)) + word_list._phrases.size()


_compiled = BoundedCache(make=_compile, size=_size, bytes_max=COMPILED_BYTES_MAX)
