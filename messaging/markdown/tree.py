"""Makes a tree of the tokens, as static/embed/markdown/tree.js does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
        if not token.hidden:
            handle = HANDLERS.get(token.type) or BY_NESTING[token.nesting]
            handle(self, token)

    def inline(self, token: Token) -> None:
        for child in token.children or ():
            self.add(child)

    def line_break(self, _token: Token) -> None:
        self.text("\n")

    def code(self, token: Token) -> None:
        self.children.append(Node("code", [token.content], {}))

    def fence(self, token: Token) -> None:
        self.children.append(Node("pre", [token.content.removesuffix("\n")], {}))

    def pop(self, _token: Token) -> None:
        self.open.pop()

    def content(self, token: Token) -> None:
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

    def close_link(self, _token: Token) -> None:
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


HANDLERS: dict[str, Callable[[_Tree, Token], None]] = {
    "inline": _Tree.inline,
    "softbreak": _Tree.line_break,
    "hardbreak": _Tree.line_break,
    "code_inline": _Tree.code,
    "fence": _Tree.fence,
    "strong_open": _Tree.mark,
    "strong_close": _Tree.unmark,
    "em_open": _Tree.mark,
    "em_close": _Tree.unmark,
    "link_close": _Tree.close_link,
}
BY_NESTING: dict[int, Callable[[_Tree, Token], None]] = {1: _Tree.push, -1: _Tree.pop, 0: _Tree.content}
