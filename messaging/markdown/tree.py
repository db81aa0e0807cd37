"""Makes a tree of the tokens, as static/embed/markdown/tree.js does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from markdown_it.token import Token

from messaging.markdown.addresses import hidden_host
from messaging.markdown.rules import tokenize

# Deeper marks of bold and italic text stay text.
DEPTH_MAX = 6
TAGS = {
    "bullet_list_open": "ul",
    "ordered_list_open": "ol",
    "list_item_open": "li",
    "blockquote_open": "blockquote",
    "paragraph_open": "p",
    "strong_open": "strong",
    "em_open": "em",
    "link_open": "a",
}


class Node(NamedTuple):
    tag: str
    children: list[str | Node]
    attributes: dict[str, str | int]


def parse(text: str) -> list[str | Node]:
    tree = _Tree()
    for token in tokenize(text):
        tree.add(token)
    return tree.root.children


def plain(children: Iterable[str | Node]) -> str:
    """The text of a tree, without marks and without what is shown beside links."""
    return "".join(child if isinstance(child, str) else plain(child.children) for child in children)


class _Tree:
    def __init__(self) -> None:
        self.root = Node("", [], {})
        self.open = [self.root]
        self.depth = 0

    @property
    def children(self) -> list[str | Node]:
        return self.open[-1].children

    def add(self, token: Token) -> None:
        match token.type:
            case _ if token.hidden:
                return
            case "inline":
                for child in token.children or ():
                    self.add(child)
            case "softbreak" | "hardbreak":
                self.text("\n")
            case "code_inline":
                self.children.append(Node("code", [token.content], {}))
            case "fence":
                self.children.append(Node("pre", [token.content.removesuffix("\n")], {}))
            case "strong_open" | "em_open":
                self.mark(token)
            case "strong_close" | "em_close":
                self.unmark(token)
            case "link_close":
                self.close_link()
            case _ if token.nesting > 0:
                self.push(token)
            case _ if token.nesting < 0:
                self.open.pop()
            case _:
                self.text(token.content)

    def push(self, token: Token) -> None:
        node = Node(TAGS[token.type], [], {})
        if token.type == "link_open":
            node.attributes["href"] = str(token.attrs["href"])
        elif token.type == "ordered_list_open" and "start" in token.attrs:
            node.attributes["start"] = int(token.attrs["start"])
        self.children.append(node)
        self.open.append(node)

    def text(self, content: str) -> None:
        if not content:
            return
        if self.children and isinstance(last := self.children[-1], str):
            self.children[-1] = last + content
        else:
            self.children.append(content)

    def mark(self, token: Token) -> None:
        self.depth += 1
        if self.depth > DEPTH_MAX:
            self.text(token.markup)
        else:
            self.push(token)

    def unmark(self, token: Token) -> None:
        if self.depth > DEPTH_MAX:
            self.text(token.markup)
        else:
            self.open.pop()
        self.depth -= 1

    def close_link(self) -> None:
        """A link to nowhere, `[text]()`, stays text."""
        link = self.open.pop()
        if href := str(link.attributes["href"]):
            if host := hidden_host(href, plain(link.children)):
                link.attributes["host"] = host
            return
        self.children.pop()
        self.text("[")
        for child in link.children:
            if isinstance(child, str):
                self.text(child)
            else:
                self.children.append(child)
        self.text("]()")
