"""Character classes, each as the content of a regular expression's brackets."""

from __future__ import annotations

import unicodedata
from itertools import groupby

# Beyond this code point are ideographs; the only marks are variation selectors, which are zero-width.
_END_OF_SCRIPTS = 0x20000


def _of_categories(*categories: str) -> list[int]:
    return [code for code in range(_END_OF_SCRIPTS) if unicodedata.category(chr(code)) in categories]


def _ranges(codes: list[int]) -> str:
    """As few ranges as possible, because `re` compares those beyond U+FFFF one by one."""
    runs = (list(run) for _, run in groupby(enumerate(codes), key=lambda pair: pair[1] - pair[0]))
    return "".join(f"\\U{run[0][1]:08x}-\\U{run[-1][1]:08x}" for run in runs)


def in_categories(*categories: str, without: str) -> str:
    """The characters of Unicode categories, except those of `without`. Neither those of ASCII, nor those beyond U+FFFF:
    `re` has a table for the others.
    """
    codes = (code for code in _of_categories(*categories) if 0x7F < code < 0x10000)
    return _ranges([code for code in codes if chr(code) not in without])


# Invisible: format and control characters, fillers, selectors. They hide a word from a plain search.
ZERO_WIDTH = (
    r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
)
# Marks of no particular script. Those that NFKC does not compose are overlays, piles, or the dot of a folded `İ`.
OVERLAYS = r"\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
# Vowel signs and other marks are part of a word, but not in Python's `\w`, which would split Hindi words.
_MARKS = _of_categories("Mn", "Mc", "Me")
MARKS = _ranges(_MARKS)
EVERY_MARK = frozenset(map(chr, _MARKS))
# Letters that normalisation composes with the preceding letter.
JOINING_LETTERS = r"\u1160-\u11ff\U00016d63-\U00016d6a"
# Characters that replace letters (`a$$`, `sh!t`, `C++`), unlike those that separate words.
SIGNS = "@#%&*!" + _ranges(_of_categories("Sc", "Sm", "So"))
