"""A post as HTML, and as plain text. Every text and attribute is escaped, and the tags are those of the tree.

A text of the greatest length may take a tenth of a second and more to parse. A response with several texts parses as
many as a `Budget` allows; the others are shown as typed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from html import escape
from typing import NamedTuple

from messaging.markdown.frames import with_frames_in_one_piece
from messaging.markdown.tree import Node, parse, plain

REL = "ugc nofollow noopener"
BLOCKS = frozenset({"p", "pre", "blockquote", "ul", "ol", "li"})
# What one response may parse, in the units of `cost_of`. A unit takes about 1 µs on a processor of 2024.
UNITS_MAX = 32_000
# What a character may cost: a line may begin a block, a colon may be that of an address, and at each character that
# could be a mark the parser tries its rules. It takes a carriage return for the end of a line as well, and reads on
# from a bracket for the end of the text of a link.
COSTS = {"\n\r:": 32, "[": 30, "*_`]!>-+\\": 8, "#$%&<=@^{}~": 3}


class Rendered(NamedTuple):
    """A text as HTML, and without its marks, a line for each block."""

    html: str
    plain: str


class Budget:
    """What a response may still parse. It depends on the texts alone, so that the same rows give the same response."""

    def __init__(self, units: int = UNITS_MAX) -> None:
        self._left = units

    def allows(self, text: str) -> bool:
        """Whether enough is left to parse this text, which is taken from it."""
        cost = cost_of(text)
        if cost > self._left:
            return False
        self._left -= cost
        return True


def as_typed(text: str) -> Rendered:
    return Rendered(_html(Node("p", [text], {})), text)


def cost_of(text: str) -> int:
    """An upper limit of the work of parsing a text, from the number of its marks."""
    return sum(cost * sum(map(text.count, marks)) for marks, cost in COSTS.items())


@with_frames_in_one_piece
def render(text: str) -> Rendered:
    tree = parse(text)
    return Rendered("".join(map(_html, tree)), "\n".join(lines(tree)))


# For the texts that are rendered often: those without marks, in feeds.
rendered = lru_cache(maxsize=128)(render)


def to_html(text: str) -> str:
    """The post as HTML, without classes and styles: readers of feeds drop these."""
    return rendered(text).html


def to_plain(text: str) -> str:
    """The text without marks, a line for each block."""
    return rendered(text).plain


def _html(node: str | Node) -> str:
    if isinstance(node, str):
        return escape(node, quote=False).replace("\n", "<br>")
    tag, children, attributes = node
    if tag == "pre":
        return f"<pre><code>{escape(plain(children), quote=False)}</code></pre>"
    content = "".join(map(_html, children))
    if tag == "a":
        host = f" ({escape(str(attributes['host']))})" if "host" in attributes else ""
        return f'<a href="{escape(str(attributes["href"]))}" rel="{REL}" target="_blank">{content}</a>{host}'
    start = f' start="{attributes["start"]}"' if "start" in attributes else ""
    direction = ' dir="auto"' if tag in {"p", "li", "blockquote"} else ""
    return f"<{tag}{start}{direction}>{content}</{tag}>"


def lines(children: Iterable[str | Node]) -> Iterable[str]:
    """The texts of the innermost blocks. A list item may have text beside blocks."""
    text = ""
    for child in children:
        if not isinstance(child, Node) or child.tag not in BLOCKS:
            text += child if isinstance(child, str) else plain([child])
            continue
        if text:
            yield text
        text = ""
        yield from lines(child.children)
    if text:
        yield text
