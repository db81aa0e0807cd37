"""A discussion in the page moves nothing that a reader sees, in the page and in its frame, wherever the reader is."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route

from tests.widget.live import Live, intercept, panel_frame, wait_for_first
from tests.widget.test_choice_of_place import ARTICLE, FOOTER, thread_of, wait_for_whole_frame
from tests.widget.test_panel_budget import SHIFT, SHIFT_MAX

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SCREENS = [(1440, 1300), (390, 844)]
CONFIG, POSTS, PARSER = "**/api/embeds/config/*", "**/api/messages?*", "**/embed/markdown.js*"
# A script scrolls, so recent input excuses no shift.
OBSERVE = """
window.shifts = [];
new PerformanceObserver((list) => shifts.push(...list.getEntries())).observe({ type: "layout-shift", buffered: true });
"""
END = "scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })"
# Two frames: the observers have been told of what was drawn.
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
TEXT = "**Words** of a usual length, as people write them below an article: two lines, `sometimes` three of them."
RESERVED = "<style>#place { min-height: 100vh }</style><p>A short article.</p><div id=place></div>"
RESERVE = "document.querySelector('community-embed').offsetHeight"
# The height of the box that readers see, and that of its frame.
BOX = """
(({ shadowRoot }) => [".panel", "iframe"].map((name) => shadowRoot.querySelector(name).offsetHeight))
(document.querySelector("community-embed"))
"""
BORDERS = 2


def open_page(live: Live, size: tuple[int, int], *, posts: int) -> Page:
    """Open a page with a discussion after a long article and before a footer."""
    for n in range(posts):
        post = live.message(content=f"Post {n}. {TEXT}")
        live.message(content=f"Reply. {TEXT}", parent=post)
    live.attributes = live.attributes or ' data-mode="inline"'
    live.before, live.after = live.before or ARTICLE, live.after or FOOTER
    live.context.add_init_script(OBSERVE)
    page = live.context.new_page()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(live.url)
    # What appears and is scrolled to within one frame counts as a shift.
    page.evaluate(DRAWN)
    return page


def require_no_shift(page: Page) -> None:
    """Nothing moved in the page, and hardly anything in the frame."""
    thread_of(page)
    wait_for_whole_frame(page)
    page.evaluate(DRAWN)
    assert page.evaluate("shifts.map(({ value, sources }) => [value, sources[0]?.node?.outerHTML.slice(0, 80)])") == []
    assert panel_frame(page).evaluate(SHIFT) < SHIFT_MAX


def require_box_of_content(page: Page) -> int:
    """The discussion is no higher than its content, whose height this returns."""
    box, frame = page.evaluate(BOX)
    assert box == frame + BORDERS
    return int(box)


def respond(page: Page, routes: list[Route]) -> None:
    """Let the requests to a held URL go on, once the first was sent and the page was drawn."""
    wait_for_first(page.context, routes)
    page.evaluate(DRAWN)
    for route in routes:
        route.continue_()


@pytest.mark.parametrize("size", SCREENS)
def test_reader_who_scrolls_screen_by_screen(live: Live, size: tuple[int, int]) -> None:
    page = open_page(live, size, posts=8)
    page.locator("community-embed").wait_for(state="attached")
    for _ in range(20):
        page.evaluate("scrollBy({ top: innerHeight * 0.7, behavior: 'instant' })")
        page.evaluate(DRAWN)
        if page.locator("iframe").count():
            thread_of(page)
            wait_for_whole_frame(page)
    require_no_shift(page)


@pytest.mark.parametrize(("size", "posts"), [(SCREENS[0], 0), (SCREENS[1], 12)])
def test_reader_at_the_end_of_the_page_before_the_discussion_loads(
    live: Live, size: tuple[int, int], posts: int
) -> None:
    held = {url: intercept(live.context, url) for url in (CONFIG, POSTS)}
    page = open_page(live, size, posts=posts)
    page.locator("community-embed").wait_for(state="attached")
    page.evaluate(END)
    respond(page, held[CONFIG])
    page.frame_locator("iframe").locator(".skeleton").first.wait_for()
    respond(page, held[POSTS])
    require_no_shift(page)
    assert page.locator("#footer").evaluate("(node) => node.getBoundingClientRect().bottom <= innerHeight + 1")
    assert page.evaluate(RESERVE) == require_box_of_content(page)


def test_reader_who_passes_the_discussion_while_it_loads(live: Live) -> None:
    live.after = FOOTER + ARTICLE
    held = intercept(live.context, POSTS)
    page = open_page(live, SCREENS[0], posts=12)
    page.locator("community-embed").scroll_into_view_if_needed()
    page.frame_locator("iframe").locator(".skeleton").first.wait_for(state="attached")
    page.evaluate(END)
    respond(page, held)
    require_no_shift(page)


@pytest.mark.parametrize(("size", "posts"), [(SCREENS[0], 0), (SCREENS[1], 12)])
def test_place_on_the_first_screen_that_the_site_reserves(live: Live, size: tuple[int, int], posts: int) -> None:
    live.attributes, live.before = ' data-mode="inline" data-target="#place"', RESERVED
    held = intercept(live.context, POSTS)
    page = open_page(live, size, posts=posts)
    respond(page, held)
    require_no_shift(page)
    require_box_of_content(page)


@pytest.mark.parametrize("posts", [0, 1])
@pytest.mark.parametrize("size", SCREENS)
def test_short_page_that_ends_with_a_short_discussion(live: Live, size: tuple[int, int], posts: int) -> None:
    live.before, live.after = "<p>A short article.</p>", " "
    page = open_page(live, size, posts=posts)
    require_no_shift(page)
    content = require_box_of_content(page)
    assert page.evaluate(RESERVE) == content
    assert posts or content < size[1] / 2
    assert not page.evaluate("document.documentElement.scrollHeight > innerHeight")


@pytest.mark.parametrize("size", SCREENS)
def test_what_follows_an_empty_discussion_on_the_first_screen_moves_up_while_it_is_out_of_sight(
    live: Live, size: tuple[int, int]
) -> None:
    live.before, live.after = "<p>A short article.</p>", FOOTER + ARTICLE * 3
    held = intercept(live.context, POSTS)
    page = open_page(live, size, posts=0)
    page.frame_locator("iframe").locator(".skeleton").first.wait_for(state="attached")
    # The place itself was inserted on the screen.
    page.evaluate("shifts.length = 0")
    respond(page, held)
    require_no_shift(page)
    content = require_box_of_content(page)
    top = page.locator("community-embed").evaluate("(host) => host.getBoundingClientRect().top")
    assert page.evaluate(RESERVE) == pytest.approx(size[1] - top, abs=1)
    page.evaluate(END)
    page.wait_for_function(f"{RESERVE} === {content}")
    require_no_shift(page)
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    require_no_shift(page)
    assert page.locator("#footer").evaluate("(node) => node.getBoundingClientRect().top < innerHeight")


def test_slow_parser_of_marks(live: Live) -> None:
    held = intercept(live.context, PARSER)
    page = open_page(live, SCREENS[1], posts=12)
    page.evaluate(END)
    respond(page, held)
    require_no_shift(page)


def test_short_discussion_gives_up_the_reserve_that_is_not_on_the_screen_and_a_refused_one_has_no_place(
    live: Live,
) -> None:
    page = open_page(live, (1440, 1300), posts=0)
    page.evaluate("scrollTo(0, document.querySelector('community-embed').getBoundingClientRect().top - 700)")
    thread_of(page)
    wait_for_whole_frame(page)
    page.wait_for_function(f"{RESERVE} === 600")

    live.context.route(CONFIG, lambda route: route.fulfill(status=403, json={"error": "x"}))
    page = live.context.new_page()
    with page.expect_console_message(lambda message: "not shown" in message.text):
        page.goto(live.url)
    page.evaluate(DRAWN)
    assert page.locator("community-embed").count() == 0
