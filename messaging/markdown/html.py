"""A post as HTML, and as plain text. Every text and attribute is escaped, and the tags are those of the tree."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from html import escape

from messaging.markdown.tree import Node, parse, plain

REL = "ugc nofollow noopener"
BLOCKS = frozenset({"p", "pre", "blockquote", "ul", "ol", "li"})


@lru_cache(maxsize=128)
def to_html(text: str) -> str:
    """The post as HTML, without classes and styles: readers of feeds drop these."""
    return "".join(map(_html, parse(text)))


def to_plain(text: str) -> str:
    """The text without marks, a line for each block."""
    return "\n".join(lines(parse(text)))


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
