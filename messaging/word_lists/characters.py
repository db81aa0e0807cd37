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
# Vowel signs and points that most writers of Hebrew and Arabic leave out, and the stroke that stretches an Arabic word.
OPTIONAL_MARKS = (
    r"\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4"
    r"\u06e7\u06e8\u06ea-\u06ed\u0898-\u089f\u08ca-\u08e1\u08e3-\u08ff\ufb1e"
)
# Scripts that are written without spaces between words, from Thai to the rarer ideographs, and Hangul, where particles
# and compounds join words. A letter of these is a word of its own. Search in PostgreSQL has the same ranges.
UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u3005-\u3007\u3021-\u312f\u3131-\u318f"
    r"\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\ua9e0-\ua9ff\uaa60-\uaadf\uac00-\ud7ff\uf900-\ufaff"
    r"\uff66-\uffdc\U000116d0-\U000116ff\U00011700-\U0001174f\U00016fe2-\U00016ff6\U0001aff0-\U0001b16f\U00020000-\U0003fffd"
)
# Vowel signs and other marks are part of a word, but not in Python's `\w`, which would split Hindi words.
_MARKS = _of_categories("Mn", "Mc", "Me")
MARKS = _ranges(_MARKS)
# A pattern: a letter or digit of a script without spaces, with its marks.
UNSPACED_LETTER = rf"(?=[^\W_])[{UNSPACED}][{MARKS}]*"
EVERY_MARK = frozenset(map(chr, _MARKS))
# Letters that normalisation composes with the preceding letter.
JOINING_LETTERS = r"\u1160-\u11ff\U00016d63-\U00016d6a"
# Characters that replace letters (`a$$`, `sh!t`, `C++`), unlike those that separate words.
SIGNS = "@#%&*!" + _ranges(_of_categories("Sc", "Sm", "So"))
