"""The Markdown of posts on the server: the cases, HTML of any text, and texts that are meant to cost much."""

from __future__ import annotations

import json
import re
import resource
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it.rules_inline import StateInline

from messaging.inbox.events import MENTION
from messaging.markdown import reading
from messaging.markdown.html import rendered, to_html, to_plain
from messaging.markdown.reading import as_read, text_nodes
from messaging.markdown.rules import LABEL_MAX, LABEL_READS, LEVEL_MAX, RULES
from messaging.markdown.tree import DEPTH_MAX, Node, parse
from messaging.posts.excerpts import excerpt
from tests.markdown.cases import CASES, LENGTH, LONGEST_ADDRESS, PARTS, TOO_LONG_ADDRESSES, longest_texts, texts_of

# Blocks, marks in a paragraph, and a link.
DEEPEST = LEVEL_MAX + 2 + DEPTH_MAX + 1
ALLOWED: dict[str, set[str]] = {
    "p": {"dir"},
    "li": {"dir"},
    "blockquote": {"dir"},
    "ul": set(),
    "ol": {"start"},
    "pre": set(),
    "code": set(),
    "strong": set(),
    "em": set(),
    "br": set(),
    "a": {"href", "rel", "target"},
}
ANY_TEXT = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PARTS), max_size=40).map("".join))


class Reader(HTMLParser):
    """Collects elements, and the text; it fails for a tag or an attribute of another kind."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[dict[str, str | None]] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert {name for name, _ in attrs} <= ALLOWED[tag]
        if tag == "a":
            self.links.append(dict(attrs))
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def depth_of(children: list[str | Node]) -> int:
    return 1 + max((depth_of(child.children) for child in children if isinstance(child, Node)), default=0)


def nodes_in(children: list[str | Node]) -> int:
    return sum(1 + (nodes_in(child.children) if isinstance(child, Node) else 0) for child in children)


def test_cases() -> None:
    trees = {case["rule"]: json.loads(json.dumps(parse(case["text"]))) for case in CASES}
    assert len(trees) == len(CASES) > 0
    assert [case["rule"] for case in CASES if trees[case["rule"]] != case["tree"]] == []


@given(text=ANY_TEXT)
def test_html_has_only_known_elements_and_safe_addresses(text: str) -> None:
    reader = Reader(to_html(text))
    for link in reader.links:
        assert link["rel"] == "ugc nofollow noopener"
        assert link["target"] == "_blank"
        assert urlsplit(link["href"] or "").scheme in {"http", "https", "mailto"}


@given(text=st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), max_size=100))
def test_text_without_marks_is_unchanged(text: str) -> None:
    plain = re.sub(r"[-*_`\[\]\\<>+~:.)]", "", text)
    assert unescape(re.sub(r"<[^>]*>", "", to_html(plain))) == plain
    assert to_plain(plain) == plain


@pytest.mark.parametrize("text", longest_texts(), ids=lambda text: ascii(text[:12]))
def test_the_longest_text_makes_a_bounded_tree_in_steps_that_grow_with_the_text_alone(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip, steps = RULES.inline.skipToken, 0

    def counting(state: StateInline) -> None:
        nonlocal steps
        steps += 1
        skip(state)

    monkeypatch.setattr(RULES.inline, "skipToken", counting)
    tree = parse(text)
    assert depth_of(tree) <= DEEPEST
    assert nodes_in(tree) <= LENGTH
    nested = RULES.options["maxNesting"] * LABEL_MAX
    assert steps <= LABEL_READS * len(text) + nested


def test_an_address_is_read_to_the_length_of_a_link_only() -> None:
    """Else a text of many addresses in one, each read to its end, would take seconds."""
    assert to_html(LONGEST_ADDRESS).count("<a ") == 1
    assert [to_html(text).count("<a ") for text in TOO_LONG_ADDRESSES] == [0, 0, 0, 0]


def test_plain_text_has_a_line_for_each_block_and_no_marks() -> None:
    text = "**One** [link](https://a.example)\n\n- two\n  > three\n\n```\nfour\n```"
    assert to_plain(text) == "One link\ntwo\nthree\nfour"
    assert excerpt(text, 80) == "One link two three four"


def test_html_of_a_post() -> None:
    assert to_html("**One** <b>\n[two](https://a.example)") == (
        '<p dir="auto"><strong>One</strong> &lt;b&gt;<br>'
        '<a href="https://a.example/" rel="ugc nofollow noopener" target="_blank">two</a> (a.example)</p>'
    )


def test_no_depth_of_the_stack_makes_a_text_dearer() -> None:
    """Where memory for frames would end inside the loop of the parser, each of its calls would ask for a page of it."""

    def at_depth(depth: int) -> int:
        if depth:
            return at_depth(depth - 1)
        rendered.cache_clear()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        to_html("<" * 400)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    at_depth(0)
    assert max(at_depth(depth) for depth in range(180)) < 300


def test_a_text_that_is_not_parsed_reads_as_its_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [
        *"*_`\\[]()<. \n名$a",
        "**",
        "~~~\n",
        "](https://a.b/c)",
        "@ada",
        "@c_d",
        "bc",
        "\n> ",
        "https://x.org/@eve ",
    ]
    texts = texts_of(parts, 1_000)

    def read() -> list[tuple[list[str], list[str]]]:
        return [
            (
                [handle for node in text_nodes(text) for handle in MENTION.findall(node)],
                re.findall(r"[^\W_]+", as_read(text)),
            )
            for text in texts
        ]

    quick = read()
    monkeypatch.setattr(reading, "_is_parsed", lambda _text, _marks: True)
    assert [each for each in zip(texts, quick, read(), strict=True) if each[1] != each[2]] == []
