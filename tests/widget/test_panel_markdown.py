"""The Markdown of posts in the panel: as on the server, without HTML, and what a writer sees of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from messaging.markdown.tree import parse
from messaging.models import Account
from tests.markdown.cases import (
    CASES,
    LENGTH,
    LONGEST_ADDRESS,
    PARTS,
    PLAIN_PARTS,
    TOO_LONG_ADDRESSES,
    addresses,
    longest_texts,
    texts_of,
)
from tests.widget.live import Live

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


PARSE = """async (texts) => {
  const { markdownUrl } = JSON.parse(document.getElementById("data").textContent).settings;
  const { parse } = await import(markdownUrl);
  return texts.map((text) => parse(text));
}"""
# The size of a tree: deep trees of others would not fit into the message of a test.
SIZES = """async (texts) => {
  const { markdownUrl } = JSON.parse(document.getElementById("data").textContent).settings;
  const { parse } = await import(markdownUrl);
  const size = (child) => 1 + (typeof child === "string" ? 0 : count(child[1]));
  const count = (children) => children.reduce((sum, child) => sum + size(child), 0);
  return texts.map((text) => count(parse(text)));
}"""
TEXT = """**One** <b>two</b> [three](https://other.example/a)
next https://example.org/a_b_c

> quoted

1. first
2. second

```
<img src=x onerror="window.pwned = 1">
```"""
PASTE = """(area, text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  area.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""


def as_json(tree: Any) -> Any:
    return json.loads(json.dumps(tree))


def test_panel_parses_as_the_server_does(live: Live) -> None:
    page = live.open_alone()
    texts = (
        [case["text"] for case in CASES]
        + texts_of(PARTS, 1500)
        + addresses(1000)
        + [LONGEST_ADDRESS, *TOO_LONG_ADDRESSES]
    )
    trees = page.evaluate(PARSE, texts)
    assert trees[: len(CASES)] == [case["tree"] for case in CASES]
    assert [(text, tree) for text, tree in zip(texts, trees, strict=True) if as_json(parse(text)) != tree] == []
    # Some texts cost the server as much as a hundred posts of a usual length: their trees are compared there.
    assert max(page.evaluate(SIZES, longest_texts())) <= LENGTH
    assert live.errors == []


def test_text_with_marks_is_shown_as_nodes_and_without_marks_needs_no_parser(live: Live) -> None:
    plain = texts_of(PLAIN_PARTS, 12)
    posts = [live.message(content=text) for text in plain if text.strip()]
    asked: list[str] = []
    live.context.on("request", lambda request: asked.append(request.url))
    page = live.open_alone()
    for post in posts:
        shown = page.locator(f"#community-post-{post.pk} .content p").all_text_contents()
        assert shown == [paragraph.children[0] for paragraph in parse(post.content) if paragraph.children]
    assert not [url for url in asked if "markdown" in url]
    first = live.message(content=TEXT)
    live.message(content="**Quoting**", quote=first)
    page.reload()
    content = page.locator(f"#community-post-{first.pk} .content")
    expect(content.locator("strong")).to_have_text("One")
    expect(content.locator("blockquote p")).to_have_text("quoted")
    expect(content.locator("ol > li")).to_have_text(["first", "second"])
    expect(content.locator("pre")).to_contain_text("<img src=x")
    link = content.get_by_role("link", name="three")
    expect(link).to_have_attribute("href", "https://other.example/a")
    expect(link).to_have_attribute("rel", "ugc nofollow noopener")
    expect(link).to_have_attribute("target", "_blank")
    expect(content.locator(".host")).to_have_text(["(other.example)"])
    assert content.locator("img, b").count() == 0
    expect(page.locator(".quote .clamp")).to_contain_text("One <b>two</b> three")
    assert page.evaluate("window.pwned") is None
    assert live.errors == []


def test_without_the_parser_marks_are_shown_until_it_is_loaded(live: Live) -> None:
    live.message(content="**One** two")
    pattern = f"{live.app}/embed/markdown.js*"
    live.context.route(pattern, lambda route: route.abort())
    page = live.open_alone()
    expect(page.locator(".content")).to_have_text("**One** two")
    live.context.unroute(pattern)
    live.post("_Three_")
    page.locator("#kind").select_option("human")
    expect(page.locator(".content strong")).to_have_text("One")


def test_writer_sees_a_preview_and_writes_marks_by_keys_and_paste(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    page = live.open_alone()
    area = write(page, "one two")
    area.press("Control+a")
    area.press("Control+b")
    expect(area).to_have_value("**one two**")
    area.press("Control+b")
    expect(area).to_have_value("one two")
    area.press("Control+i")
    expect(area).to_have_value("_one two_")
    area.press("Control+z")
    expect(area).to_have_value("one two")
    for text, start, marked in (
        ("これは重要です", 3, "これは*重要*です"),
        ("**重要**", 2, "**_重要_**"),
        ("*重要*です", 1, "重要です"),
        ("a重要", 1, "a*重要*"),
    ):
        area.fill(text)
        area.evaluate("(area, start) => area.setSelectionRange(start, start + 2)", start)
        area.press("Control+i")
        expect(area).to_have_value(marked)
        area.press("Control+i")
        expect(area).to_have_value(text)
    area.fill("one two")
    area.press("Control+a")
    area.evaluate(PASTE, "https://example.org/a")
    expect(area).to_have_value("[one two](https://example.org/a)")
    page.get_by_role("button", name="Preview").click()
    preview = page.get_by_role("region", name="Preview")
    expect(preview.get_by_role("link")).to_have_attribute("href", "https://example.org/a")
    expect(preview).to_be_focused()
    expect(area).to_be_hidden()
    page.get_by_role("button", name="Post", exact=True).click()
    expect(page.locator("article .content a")).to_have_text("one two")
    expect(area).to_be_visible()
    expect(area).to_have_value("")
    assert live.errors == []


def write(page: Page, text: str) -> Any:
    area = page.locator("#write textarea")
    area.fill(text)
    area.focus()
    # The keys for marks are loaded with the list of handles.
    expect(area).to_have_attribute("aria-autocomplete", "list")
    return area
