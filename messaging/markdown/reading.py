"""The texts of a post as a reader sees them, for word lists and mentions. A text without marks is not parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import unquote

from messaging.markdown.html import BLOCKS, UNITS_MAX, cost_of
from messaging.markdown.tree import Node, parse, plain

# Parsing takes a tenth of the time of a new post or more. Without these, the text has no code, link or address, and no
# mark that is part of a word: `_` is one beside a character of no word.
_HIDING = re.compile(r"[`[\\]|~~~|://|\b_|_\b")
# Without these, it has no link, and no mark between two parts of a word.
_JOINING = re.compile(r"\]\(|\\|[^\s*_`]_*+[*`][*_`]*+[^\s.,:;?)]")
_INLINE_MARKS = re.compile(r"[*_`\\]")
# In them a handle is no mention.
_LITERAL = frozenset({"code", "pre", "a"})


def text_nodes(text: str) -> tuple[str, ...]:
    """The texts outside of code, links and addresses, each between two marks."""
    return tuple(_outside_literals(_tree(text))) if _is_parsed(text, _HIDING) else (text,)


def as_read(text: str) -> str:
    """The text without its marks, then the addresses of its links. One that costs too much to parse: as typed, and
    without any character that may be a mark.
    """
    if _is_parsed(text, _JOINING):
        addresses: list[str] = []
        return "".join(_words(_tree(text), addresses)) + "\n".join(addresses)
    return text if _JOINING.search(text) is None else f"{text}\n{_INLINE_MARKS.sub('', text)}"


def _is_parsed(text: str, marks: re.Pattern[str]) -> bool:
    return marks.search(text) is not None and cost_of(text) <= UNITS_MAX


@lru_cache(maxsize=8)
def _tree(text: str) -> tuple[str | Node, ...]:
    """One request reads a text several times: for each word list, and for mentions."""
    return tuple(parse(text))


def _outside_literals(children: Iterable[str | Node]) -> Iterator[str]:
    for child in children:
        if isinstance(child, str):
            yield child
        elif child.tag not in _LITERAL:
            yield from _outside_literals(child.children)


def _words(children: Iterable[str | Node], addresses: list[str]) -> Iterator[str]:
    for child in children:
        if isinstance(child, str):
            yield child
            continue
        yield from _words(child.children, addresses)
        if child.tag == "a" and (address := unquote(str(child.attributes["href"]))) != plain(child.children):
            addresses.append(address)
        if child.tag in BLOCKS:
            yield "\n"
