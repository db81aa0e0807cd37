"""Hostile content is shown as text: it executes nothing, loads nothing and breaks no layout."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from messaging.models import Message
from tests.factories import AgentAccountFactory, PersonFactory
from tests.widget.live import Live

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SCRIPT = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'><svg onload='window.pwned = 3'>"
RIGHT_TO_LEFT_OVERRIDE = "\u202e"
UNSAFE = [
    "javascript:window.pwned=4",
    "data:text/html,<script>window.pwned=5</script>",
    " JaVaScRiPt:alert(1)",
    "//evil.example/x",
    "https:evil",
    "vbscript:x",
]
# Elements that overflow the panel horizontally.
OVERFLOWS = """() => {
  const wide = [...document.querySelectorAll(".thread *")].filter((node) => {
    const box = node.getBoundingClientRect();
    const cut = node.closest(".hidden-text, .stars, .attachments .address, .attachments .kind, .chip .emoji, .folded");
    return !cut && box.width && (box.right > innerWidth + 0.5 || box.left < -0.5);
  });
  const scroll = document.getElementById("scroll");
  const scrolls = scroll.scrollWidth > scroll.clientWidth ? ["scrolls"] : [];
  return [...wide.map((node) => node.outerHTML.slice(0, 120)), ...scrolls];
}"""


def require_intact(live: Live, page: Page) -> None:
    assert page.evaluate("window.pwned") is None
    assert live.errors == []
    for width in (320, 420, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(OVERFLOWS) == [], width


@pytest.mark.journey
def test_markup_in_every_field_is_shown_as_text(live: Live) -> None:
    post = live.message(
        content=SCRIPT,
        author=PersonFactory(name=SCRIPT[:60]),
        anchor_text=SCRIPT,
        tag_type="note",
        payload={SCRIPT: {SCRIPT: [SCRIPT, {SCRIPT: 1}]}, "rationale": SCRIPT, "__proto__": "x", "constructor": None},
    )
    live.message(content="quoting", quote=post)
    urls: list[str] = []
    live.context.on("request", lambda request: urls.append(request.url))
    page = live.open_alone()
    expect(page.locator("article .content").last).to_have_text(SCRIPT)
    assert [url for url in urls if not url.startswith(live.app)] == []
    require_intact(live, page)


KINDS = "claim evidence question answer correction review prediction poll summary highlight note unknown"
FIELDS = (
    "statement url title excerpt stance question answer original corrected subject comment scope rationale sources "
    "topics options points pros cons confidence probability rating dueDate closesAt publishedOn color"
)


def test_tag_payloads_of_any_shape_are_shown_as_text(live: Live) -> None:
    author = PersonFactory()
    for name in KINDS.split():
        for value in (SCRIPT, "W" * 500, 7, None, [SCRIPT, 3, None, "W" * 300], {"a": SCRIPT}):
            live.message(content="x", author=author, tag_type=name, payload=dict.fromkeys(FIELDS.split(), value))
    page = live.open_alone()
    for _ in range(3):
        page.get_by_role("button", name="Show more posts").click()
        page.locator(".wide:not([disabled])").or_(page.locator(".wide[hidden]")).first.wait_for(state="attached")
    expect(page.locator("article")).to_have_count(72)
    require_intact(live, page)


def test_addresses_without_http_are_text_and_a_direction_override_ends_with_its_text(live: Live) -> None:
    attachments = [{"type": "W" * 64, "url": url} for url in (*UNSAFE, "https://example.org/" + "a" * 2000)]
    live.message(content="x", attachments=attachments)
    page = live.open_alone()
    links = page.locator(".attachments a").evaluate_all("(links) => links.map((link) => link.protocol)")
    assert links == ["https:"]
    expect(page.locator(".attachments span.address")).to_have_count(len(UNSAFE))
    agent = AgentAccountFactory(name=f"Eve{RIGHT_TO_LEFT_OVERRIDE}")
    live.message(content=f"{RIGHT_TO_LEFT_OVERRIDE}gnorts", author=agent)
    page.reload()
    name, badge = (page.locator(f"article .name:has(.badge) {part}").bounding_box() for part in ("bdi", ".badge"))
    assert name
    assert badge
    assert badge["x"] >= name["x"] + name["width"]
    require_intact(live, page)
    page = live.open_alone(lang="ja")
    page.get_by_role("button", name="引用").first.click()
    expect(page.locator(".quoted strong")).to_have_text(f"\u2068Eve{RIGHT_TO_LEFT_OVERRIDE}\u2069 さんを引用")


def test_long_post_without_spaces_is_folded_and_can_be_unfolded(live: Live) -> None:
    live.message(content="W" * 20_000)
    live.message(content="\n" * 3_000 + "end")
    live.message(content="Z̸̡͎̈́̕" * 2_000)
    page = live.open_alone()
    assert page.locator("article").last.evaluate("(post) => post.offsetHeight") < 500
    require_intact(live, page)
    page.locator("article").last.get_by_role("button", name="Read more").click()
    expect(page.locator("article").last.get_by_role("button", name="Show less")).to_be_visible()
    require_intact(live, page)


def test_fifty_levels_of_replies_fit_a_small_screen(live: Live) -> None:
    parent: Message | None = None
    start = timezone.now() - timedelta(hours=1)
    for level in range(50):
        parent = live.message(content=f"Level {level}", parent=parent, created_at=start + timedelta(seconds=level))
    page = live.open_alone()
    page.set_viewport_size({"width": 320, "height": 800})
    expect(page.locator("article")).to_have_count(2)
    for shown in (22, 42, 50):
        page.get_by_role("button", name="Show 1 reply").click()
        expect(page.locator("article")).to_have_count(shown)
    width: Any = page.locator("article").last.locator(".content").evaluate("(content) => content.offsetWidth")
    assert width > 180
    require_intact(live, page)
