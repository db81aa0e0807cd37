"""The discussion inside the page (`data-mode="inline"`)."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from messaging.models import Account
from tests.api import Api
from tests.browser import PATIENCE_MS
from tests.widget.live import Live, panel_frame, wait_until_drawn
from tests.widget.sites import APP, HOST, Site, html, tag
from tests.widget.test_accessibility import add_messages, violations_of_state
from tests.widget.test_choice_of_counts import LISTEN
from tests.widget.test_loader_life import PAGE_OF_FRAME, STRICT, navigate, show_view

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser]
SHIFTS = """
window.shifts = [];
const options = { type: "layout-shift", buffered: true };
const record = ({ value, sources }) => [value, String(sources[0]?.node?.className)];
new PerformanceObserver((list) => shifts.push(...list.getEntries().map(record))).observe(options);
"""
ARTICLE = "".join(f"<p>{'Words of a long article. ' * 60}</p>" for _ in range(12))
FOOTER = "<footer id=footer>" + "<p>The end of the page.</p>" * 3 + "</footer>"
# What the panel has measured last: the height of the frame above the screen.
MEASURED = """
window.measured = null;
window.IntersectionObserver = class extends IntersectionObserver {
  constructor(callback, options) {
    super((entries, observer) => {
      callback(entries, observer);
      window.measured = entries.at(-1).intersectionRect.top;
    }, options);
  }
};
"""
CONTENT = "document.body && Math.ceil(document.body.getBoundingClientRect().height)"
CAN_SCROLL = "document.documentElement.scrollHeight > innerHeight"


def thread_of(page: Page) -> Any:
    thread = page.frame_locator("iframe")
    thread.locator(".thread[aria-busy=false]").wait_for()
    return thread


def wait_for_whole_frame(page: Page) -> int:
    """Wait until the frame is as high as its content; return its height. One that is not drawn has its former size."""
    for _ in range(PATIENCE_MS // 50):
        content = panel_frame(page).evaluate(CONTENT)
        # A frame that is still loading has no body.
        if content and content == page.locator("iframe").evaluate("(frame) => frame.offsetHeight"):
            return int(content)
        page.wait_for_timeout(50)
    raise AssertionError("The frame is not as high as its content.")


def top_of(post: Locator) -> float:
    """Where a post begins on the screen."""
    box = post.bounding_box()
    assert box is not None
    return box["y"]


@pytest.mark.django_db(transaction=True)
def test_thread_loads_near_the_screen_without_a_shift_and_grows_with_its_posts(live: Live) -> None:
    add_messages(live)
    live.attributes, live.before, live.after = ' data-mode="inline"', ARTICLE, FOOTER
    live.headers["content-security-policy"] = STRICT.replace("https://app.test", live.app)
    live.context.add_init_script(SHIFTS)
    for width in (390, 1440):
        page = live.context.new_page()
        page.set_viewport_size({"width": width, "height": 700})
        page.goto(live.url)
        host = page.locator("community-embed")
        host.wait_for(state="attached")
        assert page.locator("iframe").count() == 0
        # The thread is loaded before its place is on the screen.
        page.evaluate("scrollTo(0, document.querySelector('community-embed').getBoundingClientRect().top - 1000)")
        thread = thread_of(page)
        assert thread.locator("article").count() > 10
        assert wait_for_whole_frame(page) > 2000
        page.locator("#footer").scroll_into_view_if_needed()
        expect(page.locator("#footer")).to_be_in_viewport()
        wait_for_whole_frame(page)
        panel_frame(page).wait_for_function(f"!({CAN_SCROLL})")
        assert page.get_by_role("dialog").count() == page.locator("community-embed button").count() == 0
        assert page.evaluate("shifts") == []
    # The policy of the host page is not that of axe, which examines the panel.
    assert violations_of_state(page) == []
    assert live.errors == []
    assert [text for text in live.console if "Content Security" in text or "Trusted" in text] == []


@pytest.mark.journey
@pytest.mark.django_db(transaction=True)
def test_person_posts_and_replies_in_the_page_and_escape_closes_nothing(live: Live, ada: Account) -> None:
    live.attributes = ' data-mode="inline" data-target="#place"'
    live.after = f"<div id=place></div>{FOOTER}"
    live.signed_in(ada)
    live.context.add_init_script(LISTEN)
    page = live.context.new_page()
    page.goto(live.url)
    thread = thread_of(page)
    assert page.locator("#place > community-embed").count() == 1
    before = wait_for_whole_frame(page)
    wait_until_drawn(page, thread.locator("#write"))
    # The composer comes before the posts, in the order of the keyboard too.
    thread.get_by_label("Write a post…").fill("In the page\n" * 30)
    thread.locator("#write").get_by_role("button", name="Post").click()
    post = thread.locator("article", has_text="In the page")
    post.get_by_role("button", name="Reply").click()
    thread.get_by_label("Reply to Ada Lovelace").fill("Below it")
    page.keyboard.press("Control+Enter")
    expect(thread.locator("article.reply")).to_contain_text("Below it")
    assert wait_for_whole_frame(page) > before
    page.keyboard.press("Escape")
    expect(thread.locator("article").first).to_be_visible()
    page.wait_for_function("told.length === 3")
    told = page.evaluate("told")
    assert [(name, bool(detail.get("parentId"))) for name, detail in told] == [
        ("open", False),
        ("posted", False),
        ("posted", True),
    ]
    assert {(detail["id"], detail["page"]) for _, detail in told} == {(str(live.embed.pk), live.url)}
    assert "Below it" not in page.evaluate("JSON.stringify(told)")


@pytest.mark.django_db(transaction=True)
def test_a_reader_in_the_middle_of_a_thread_keeps_the_place_and_is_offered_new_posts(live: Live) -> None:
    """The part of the frame on the screen has the same size everywhere in the middle."""
    live.context.clock.install()
    live.context.add_init_script(MEASURED)
    posts = live.messages(20, "Post {n}. " + "Words. " * 80)
    live.attributes, live.before = ' data-mode="inline"', "<p>Short.</p>"
    page = live.context.new_page()
    page.goto(live.url)
    thread = thread_of(page)
    wait_for_whole_frame(page)
    thread.locator(".thread[data-live=poll]").wait_for()
    for top in (200, 1500, 2500):
        page.evaluate("(top) => scrollTo(0, top)", top)
        panel_frame(page).wait_for_function("(top) => Math.abs(measured - top) < 200", arg=top)
    read = thread.locator("article", has_text="Post 7.")
    before = top_of(read)
    live.post("Breaking")
    above = Api.as_person(posts[15].author)
    assert above.put(f"/api/messages/{posts[15].pk}", {"content": "Longer. " * 300}).status == 200
    page.clock.fast_forward(46_000)
    expect(thread.locator("article", has_text="Longer.")).to_have_count(1)
    offer = thread.get_by_role("button", name="1 new post")
    offer.wait_for(state="attached")
    assert thread.locator("article", has_text="Breaking").count() == 0
    page.wait_for_function("scrollY > 2600")
    assert abs(top_of(read) - before) < 2
    page.evaluate("scrollTo(0, 0)")
    offer.click()
    expect(thread.locator("article").first).to_contain_text("Breaking")


@pytest.mark.django_db(transaction=True)
def test_the_open_posts_of_a_discussion_are_printed_without_controls(live: Live) -> None:
    live.messages(3, "Printed {n}")
    live.attributes = ' data-mode="inline"'
    page = live.context.new_page()
    page.goto(live.url)
    thread = thread_of(page)
    wait_for_whole_frame(page)
    shown = thread.locator("button:visible, form:visible, select:visible, textarea:visible")
    assert shown.count() > 3
    page.emulate_media(media="print")
    expect(thread.locator("article:visible")).to_have_count(3)
    expect(thread.get_by_text("Printed 1")).to_be_visible()
    assert [one.inner_text() for one in shown.all()] == []


def test_a_trigger_is_not_printed(site: Site) -> None:
    page = site.open()
    page.emulate_media(media="print")
    expect(page.locator("community-embed")).to_be_hidden()


def test_two_places_and_a_panel_follow_navigation(site: Site) -> None:
    site.page = html(tag("e1", data_mode="inline") + "<div id=two></div>" + tag("e2"), "")
    site.page += tag("e3", data_mode="inline", data_target="#two")
    site.config["pageRules"] = {"type": "exclude", "patterns": ["/admin/*"]}
    page = site.open()
    expect(page.locator("iframe")).to_have_count(2)
    expect(page.get_by_role("button", name="Talk")).to_have_count(1)
    assert page.locator("#two > community-embed").count() == 1
    assert page.evaluate("document.activeElement.tagName") == "BODY"
    for frame in page.frames[1:]:
        frame.wait_for_function("received.length")
    navigate(page, "/next")
    for frame in page.frames[1:]:
        frame.wait_for_function("(url) => received.at(-1)[1].url === url", arg=f"{HOST}/next")
    page.frames[1].evaluate("origin => parent.postMessage({ type: 'height', height: 1234 }, origin)", HOST)
    height = "host.shadowRoot.querySelector('iframe')?.offsetHeight"
    page.wait_for_function(f"[...document.querySelectorAll('community-embed')].some((host) => {height} === 1234)")
    page.evaluate("CommunityEmbed.close('e1')")
    assert page.locator("iframe").count() == 2
    navigate(page, "/admin/users")
    expect(page.locator("community-embed")).to_have_count(0)
    navigate(page, "/back")
    expect(page.locator("iframe")).to_have_count(2)
    assert site.errors == []


def test_a_discussion_moves_to_its_place_in_each_view_or_says_that_its_page_cannot_be_loaded(site: Site) -> None:
    site.page = html("<div id=app><div class=place></div></div>" + tag("e1", data_mode="inline", data_target=".place"))
    page = site.open()
    in_place = page.locator(".place > community-embed")
    expect(in_place).to_have_count(1)
    show_view(page, "/second", "<h2>Second</h2><div class=place></div>")
    expect(in_place).to_have_count(1)
    expect(page.locator("iframe")).to_have_count(1)
    page.frame_locator("iframe").get_by_role("button").wait_for()
    page.frames[-1].wait_for_function("(url) => received.at(-1)[1].url === url", arg=f"{HOST}/second")
    show_view(page, "/about", "<h2>About</h2>")
    expect(page.locator("community-embed")).to_have_count(0)
    show_view(page, "/third", "<h2>Third</h2><div class=place></div>")
    expect(in_place).to_have_count(1)
    expect(page.locator("community-embed")).to_have_count(1)
    page.frame_locator("iframe").get_by_role("button").wait_for()
    assert page.frames[-1].evaluate(PAGE_OF_FRAME) == f"{HOST}/third"
    site.context.route(f"{APP}/embed/panel**", lambda route: route.abort())
    show_view(page, "/fourth", "<div class=place></div>")
    expect(page.get_by_role("alert")).to_contain_text("No connection")
    link = page.get_by_role("link", name="Open in a new tab")
    assert f"pageUrl={quote(f'{HOST}/fourth', safe='')}" in (link.get_attribute("href") or "")
    page.locator("community-embed").evaluate("host => host.remove()")
    page.evaluate("document.body.append('The site has removed it.')")
    expect(page.locator("community-embed")).to_have_count(0)
    assert site.errors == []


def test_the_script_of_a_new_view_is_the_place_of_the_discussion(site: Site) -> None:
    site.page = html("<div id=app>" + tag("e1", data_mode="inline") + "</div>")
    page = site.open()
    expect(page.locator("#app > script + community-embed")).to_have_count(1)
    # The frame is built when the config is loaded.
    page.frame_locator("iframe").get_by_role("button").wait_for()
    view = "<h2>Second</h2>" + tag("e1", data_mode="inline", data_page_url=f"{HOST}/canonical")
    show_view(page, "/second", view)
    expect(page.locator("#app > script + community-embed")).to_have_count(1)
    page.frame_locator("iframe").get_by_role("button").wait_for()
    page.frames[-1].wait_for_function("(url) => received.at(-1)[1].url === url", arg=f"{HOST}/canonical")
    assert (site.reports(), site.errors) == ([], [])


@pytest.mark.parametrize("content", ["<h2>First</h2>", ""])
def test_a_discussion_returns_once_to_a_target_that_the_router_empties(site: Site, content: str) -> None:
    """It shows that the next view is loading, before it shows that; or the target has nothing else."""
    site.page = html(f"<div id=app>{content}</div>" + tag("e1", data_mode="inline", data_target="#app"))
    page = site.open()
    host = page.locator("#app > community-embed")
    expect(host).to_have_count(1)
    if content:
        show_view(page, "/second", "<p>Loading</p>")
        expect(host).to_have_count(1)
    else:
        navigate(page, "/second")
    page.evaluate("(view) => { document.querySelector('#app').innerHTML = view; }", content and "<h2>Second</h2>")
    expect(host).to_have_count(1)
    page.frame_locator("iframe").get_by_role("button").wait_for()
    host.evaluate("host => host.remove()")
    page.evaluate("document.body.append('The site has removed it.')")
    expect(page.get_by_text("The site has removed it.")).to_be_visible()
    expect(page.locator("community-embed")).to_have_count(0)
    assert site.errors == []


def test_place_that_does_not_exist_throws_nothing_and_a_script_in_the_head_finds_the_body(site: Site) -> None:
    """A script in the head may run before there is a body, or before its target."""
    for target, count in (("#none", 1), ("](", 0), ("body", 1)):
        site.page = html(tag(data_mode="inline", data_target=target))
        assert site.open().locator("community-embed").count() == count
    # An invalid target does not prevent the counts of another embed.
    site.page = html(tag("e1", data_mode="inline", data_target="](") + tag("e2", data_count=""))
    site.posts = {f"{HOST}/": 3}
    expect(site.open().get_by_role("button", name="Talk 3")).to_be_visible()
    head = tag("e1", data_mode="inline", data_target="#later").replace(" async", "")
    site.page = html('<div id="later"></div>', head=head)
    expect(site.open().locator("#later > community-embed")).to_have_count(1)
    assert site.errors == []


def test_before_it_is_near_the_discussion_sends_two_requests_and_then_one(site: Site) -> None:
    site.page = html(ARTICLE * 2 + tag(data_mode="inline"))
    page = site.context.new_page()
    page.goto(HOST)
    page.locator("community-embed").wait_for(state="attached")
    page.wait_for_load_state("networkidle")
    assert site.app_paths() == ["/embed/v1.js", "/api/embeds/config/e1"]
    page.evaluate("CommunityEmbed.open('e1')")
    page.frame_locator("iframe").get_by_role("button").wait_for()
    assert site.app_paths() == ["/embed/v1.js", "/api/embeds/config/e1", "/embed/panel"]
    assert page.evaluate("scrollY") > 500
