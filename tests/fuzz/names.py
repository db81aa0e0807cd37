"""Accepted names, refused names, and a check of stored names."""

from __future__ import annotations

import unicodedata

import emoji

GOOD = (
    *(
        "Ann",
        "O'Neill-Smith, 3rd",
        "名無し",
        "Zoë",
        "Ｆｕｌｌ",
        "محمد",
        "שלום",
        "हिन्दी",
        "한국어",
        "Ω",
        "a\u0301",
        "$$$",
        "42",
        "…",
    ),
    *(
        "👍",
        "Ann 👩🏽‍🚀",
        "👨‍👩‍👧‍👦",
        "❤️",
        "❤",
        "☎\ufe0e",
        "1️⃣",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "🇩🇪",
    ),
    # Persian, Sinhala, Malayalam, Bengali, Hindi: joiners that change how letters look.
    *("می\u200cخواهم", "ශ්\u200dරී", "ന്\u200d", "র\u200d\u09cdয", "क्\u200cष", "a\u00a0b", "a\u3000b"),
)
REFUSED = (
    *("\x00", "a\x00b", "a\nb", "a\tb", "a\x1bb", "a\x7fb", "a\x85b", "a\u2028b", "a\u2029b"),
    *(f"a{mark}b" for mark in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"),
    *(f"a{nothing}b" for nothing in "\u00ad\u034f\u115f\u180e\u200b\u2060\u2063\u2800\u3164\ufeff\uffa0\ufff9"),
    *(
        "a\u200db",
        "a\u200cb",
        "\u200dرم",
        "می\u200c",
        "ی\u200c\u200cخ",
        "👍\u200d",
        "\u200d👍",
        "a\ufe0f",
        "a\U000e0067",
        "a\U000e0100",
    ),
    *("क\u200dष", "\ue000", "a\U000f0000b", "a\uffffb", "a\ufdd0b", "a\u0378b", "\ud800"),
    *(" ", "\u00a0", "\u3000", "\u0301", "\u0301\u0302", "\u3164", "\u200b", "\ufe0f"),
)


REFUSED_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
JOINERS = "\u200c\u200d"


def is_clean(name: str) -> bool:
    """Whether a stored name is valid, by another algorithm than that of the service."""
    categories = [
        unicodedata.category(character) for character in emoji.replace_emoji(name, "") if character not in JOINERS
    ]
    joiners = sum(character in JOINERS for character in emoji.replace_emoji(name, ""))
    return REFUSED_CATEGORIES.isdisjoint(categories) and joiners <= sum(category[0] in "LM" for category in categories)
