"""Texts with the tree that both parsers of posts return: the server's and the panel's."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "markdown_cases.json").read_text(encoding="utf-8"))
LENGTH = 20_000
# Each is repeated to the longest text of a post.
REPEATED = [
    *("*a **b ", "[", "![", "[a](", "![a](", "`", "``a`", "> ", ">", "- ", "*", "_a", "<", "\\", "a:// ", "http://a "),
    *("[](", "*_", "1. ", "  - a\n", "- a\n", "> - ", "`a\n", "x\n> y\n\n", "https://x.org/((((", "[a](b", "```\n"),
    *("*[", "*" + "[" * 249 + "]" * 249 + "](", "*[" * 240 + "](", "[a](https://b.c/)\n\n" + "[" * 480 + "](\n\n"),
    *("a**b", "\n- ", "- - - ", "*** ", "[[]", "![[]()", "[x](https://a.b/) ", "**a*", "a _b __c ", "\n", "\n\n> "),
    *("http://字", "https://a.字", "**。"),
]
PARTS = [
    *("*", "**", "_", "__", "`", "``", "```", "~~~", "\n", "\n\n", " ", "  ", "    ", "\t", ">", "> ", "- ", "* "),
    *(
        "+ ",
        "1. ",
        "2) ",
        "[",
        "]",
        "(",
        ")",
        "](",
        "![",
        "\\",
        "<",
        ">",
        "&amp;",
        "&#65;",
        "https://a.org/b",
        "http://",
    ),
    *("https://é.fr/", "mailto:a@b.c", "javascript:x", "a", "b c", "é", "😀", "。", "#", "# ", "---", "===", "|", ":"),
    *('"', "'", "!", "www.x.org", "x://y", "[t](https://b.org)", "[a](<https://b.org/ c>)", ".", "\u200b", "\u00a0"),
    *("\0", "\r", "\r\n"),
    *("字", "한", "「", "」", "あ。", "（", "!\ufe00", "”\ufe01", "\U000e0100", "\u3000", "https://例え.jp"),
]
AFTER_SCHEMES = r"""a b.org . - / ? # :80 @ % ' ( ) , é 字 々 한 ไทย မြန် · ・ ’ ” » – — 、 。 ． （ ＜ ｜ Ａ ｱ ß ſ 😀
؟ । ~ * _ [ < \ http:// HTTPS://"""
# What may follow the scheme of an address.
ADDRESS_PARTS = [
    *AFTER_SCHEMES.split(),
    *(" ", "\u2028", "\u200c", "\u200b", "\u00ad", "\u212a", "\ufe0f", "\U00010100", "\U000e0041"),
]
START = "https://x.org/"
LONGEST_ADDRESS = START.ljust(2048, "a")
# The second one has fewer characters, but browsers count two for each of them.
TOO_LONG_ADDRESSES = [
    *(LONGEST_ADDRESS + "a", START + "😀" * 100 + ")" * 1900, START.ljust(2049, ")"), "http://" * 1428 + ")" * 10_000)
]
# Without marks: the panel shows these texts without its parser.
PLAIN_PARTS = [
    *("a", "b c", "é", "😀", "\n", "\n\n", " ", "   ", "\t", "\r\n", "\u00a0", "(", ")", "!", "&amp;", "<b>", "#", ":"),
    *("|", "1", "."),
]


def texts_of(parts: list[str], count: int) -> list[str]:
    """The same texts in each run."""
    source = random.Random(1)
    return ["".join(source.choices(parts, k=source.randint(1, 25))) for _ in range(count)]


def addresses(count: int) -> list[str]:
    return [f"字https://{text}" for text in texts_of(ADDRESS_PARTS, count)]


def longest_texts() -> list[str]:
    return [(part * LENGTH)[:LENGTH] for part in REPEATED] + TOO_LONG_ADDRESSES
