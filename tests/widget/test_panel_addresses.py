"""The address of the page changes while its panel is open: to another name of the same page, or to another page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Page, Request, Route, expect

from embeds.widget.locales import words
from messaging.models import Account, Message
from tests.factories import PageFactory
from tests.widget.live import Live, panel_frame
from tests.widget.test_panel_arrival import expect_arrived, long_page

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NORMALIZE = "/v1/presence/normalize-url"
SCROLLED = "document.getElementById('scroll').scrollTop"
CAMPAIGN = "?utm_source=mail"
NEXT_MESSAGE = """() => {
  window.told = new Promise((done) => addEventListener("message", () => done(), { once: true }));
}"""


def of_page(live: Live, query: str) -> Message:
    """A post on another page, with the path of the article."""
    return live.message(page=PageFactory(url=live.url + query), content=f"Of {query}")


def go(page: Page, address: str) -> None:
    page.evaluate("(address) => history.replaceState(null, '', '/host/article' + address)", address)


def open_at(live: Live, query: str) -> tuple[Page, FrameLocator, list[str]]:
    """Open the panel at an address; return the ids of the pages whose lists it loads, too."""
    lists: list[str] = []

    def note(request: Request) -> None:
        listed = re.search(r"/api/messages\?.*\bpageId=(\w+)", request.url)
        if listed:
            lists.append(listed[1])

    live.context.on("request", note)
    page = live.context.new_page()
    page.goto(live.url + query)
    page.locator("community-embed button.trigger").click()
    panel = page.frame_locator("iframe")
    expect(panel.locator("article .content").first).to_be_visible()
    return page, panel, lists


def hold_addresses(live: Live) -> dict[str, Route]:
    """The look-ups of addresses, by their queries; they get no response until the test sends one."""
    held: dict[str, Route] = {}

    def hold(route: Route) -> None:
        held[route.request.post_data_json["url"].removeprefix(live.url)] = route

    live.context.route(f"{live.app}{NORMALIZE}", hold)
    return held


def wait_for(live: Live, held: dict[str, Route], query: str) -> Route:
    for _ in range(6000):
        if query in held:
            break
        live.context.pages[0].wait_for_timeout(10)
    return held[query]


def test_address_that_names_the_same_page_leaves_the_posts_and_what_is_written(live: Live, ada: Account) -> None:
    long_page(live, 25)
    other = of_page(live, "?id=2")
    live.signed_in(ada)
    page, panel, lists = open_at(live, CAMPAIGN)
    expect(panel.locator("article")).to_have_count(20)
    panel.get_by_label("Write a post…").fill("A draft")
    panel.locator("article", has_text="Post 12").get_by_role("button", name="Reply").click()
    page.keyboard.type("Half a sen")
    scrolled = panel_frame(page).evaluate(SCROLLED)
    assert scrolled > 0
    with page.expect_response(f"{live.app}{NORMALIZE}"):
        go(page, "")
    with page.expect_response(f"{live.app}{NORMALIZE}"):
        go(page, "?utm_medium=x#top")
    page.keyboard.type("tence")
    expect(panel.get_by_label("Reply to")).to_be_focused()
    expect(panel.get_by_label("Reply to")).to_have_value("Half a sentence")
    expect(panel.get_by_label("Write a post…")).to_have_value("A draft")
    assert panel_frame(page).evaluate(SCROLLED) == scrolled

    go(page, "?id=2")
    expect(panel.locator("article .content")).to_have_text(["Of ?id=2"])
    expect(panel.get_by_label("Write a post…")).to_have_value("")
    assert lists == [live.article.pk, other.page_id]
    go(page, CAMPAIGN)
    expect(panel.get_by_label("Write a post…")).to_have_value("A draft")
    assert live.errors == []


def test_large_discussion_has_a_search_after_its_address_has_changed(live: Live) -> None:
    long_page(live, 51)
    page, panel, _ = open_at(live, CAMPAIGN)
    expect(panel.locator("article")).to_have_count(20)
    with page.expect_response(f"{live.app}{NORMALIZE}"):
        go(page, "")
    panel.locator("article").last.scroll_into_view_if_needed()
    expect(panel.locator("#find")).to_be_visible()


def test_late_page_of_an_earlier_address_is_not_shown(live: Live) -> None:
    live.message(content="Of the article")
    earlier, later, last = (of_page(live, f"?id={n}") for n in (2, 3, 4))
    page, panel, lists = open_at(live, "")
    held = hold_addresses(live)
    go(page, f"?id=2#community-post-{earlier.pk}")
    go(page, "?id=3")
    late = wait_for(live, held, "?id=2")
    wait_for(live, held, "?id=3").fallback()
    expect(panel.locator("article .content")).to_have_text(["Of ?id=3"])
    late.fallback()
    go(page, f"?id=4#community-post-{last.pk}")
    wait_for(live, held, "?id=4").fallback()
    expect_arrived(panel, last)
    assert lists == [live.article.pk, later.page_id, last.page_id]
    # A failure would be shown for some seconds.
    assert panel.locator("#toast").inner_text() == ""
    assert live.errors == []


def test_posts_stay_if_the_address_returns_before_the_other_page_is_known(live: Live) -> None:
    live.message(content="Of the article")
    of_page(live, "?id=2")
    last = of_page(live, "?id=4")
    page, panel, lists = open_at(live, "")
    held = hold_addresses(live)
    go(page, "?id=2")
    late = wait_for(live, held, "?id=2")
    panel_frame(page).evaluate(NEXT_MESSAGE)
    go(page, "")
    panel_frame(page).evaluate("told")
    late.fallback()
    go(page, "?id=4")
    wait_for(live, held, "?id=4").fallback()
    expect(panel.locator("article .content")).to_have_text(["Of ?id=4"])
    assert lists == [live.article.pk, last.page_id]


def test_post_that_a_link_names_is_shown_when_its_page_is_known(live: Live) -> None:
    live.message(content="Of the article")
    other = of_page(live, "?id=2")
    page, panel, _ = open_at(live, "")
    held = hold_addresses(live)
    go(page, f"?id=2#community-post-{other.pk}")
    route = wait_for(live, held, "?id=2")
    expect(panel.locator("article .content")).to_have_text(["Of the article"])
    route.fallback()
    expect_arrived(panel, other)
    assert panel.locator("#toast").inner_text() == ""


def test_page_of_several_links_is_looked_up_once_and_shows_the_last(live: Live) -> None:
    live.message(content="Of the article")
    first = of_page(live, "?id=2")
    last = live.message(page=first.page, content="Of ?id=2, too")
    page, panel, _ = open_at(live, "")
    held, looked_up = hold_addresses(live), []
    live.context.on("request", lambda request: looked_up.append(request.url) if NORMALIZE in request.url else None)
    go(page, f"?id=2#community-post-{first.pk}")
    route = wait_for(live, held, "?id=2")
    panel_frame(page).evaluate(NEXT_MESSAGE)
    go(page, f"?id=2#community-post-{last.pk}")
    panel_frame(page).evaluate("told")
    route.fallback()
    expect_arrived(panel, last)
    assert len(looked_up) == 1


def test_unknown_page_of_an_address_is_told_and_can_be_loaded(live: Live) -> None:
    """The posts of the former page might be those of another one."""
    live.message(content="Of the article")
    of_page(live, "?id=2")
    page, panel, _ = open_at(live, "")
    panel.get_by_label("Write a post…").fill("A draft")

    def refuse(route: Route) -> Any:
        return route.fulfill(status=403, json={"error": "forbidden"})

    live.context.route(f"{live.app}{NORMALIZE}", refuse)
    go(page, "?id=2")
    retry = panel.get_by_role("button", name=words("en")["panel"]["retry"])
    expect(retry).to_be_visible()
    expect(panel.locator("article")).to_have_count(0)
    expect(panel.get_by_label("Write a post…")).to_have_value("")
    live.context.unroute(f"{live.app}{NORMALIZE}")
    retry.click()
    expect(panel.locator("article .content")).to_have_text(["Of ?id=2"])


def test_another_path_removes_the_posts_before_its_page_is_known(live: Live) -> None:
    live.message(content="Of the article")
    page, panel, _ = open_at(live, "")
    held = hold_addresses(live)
    go(page, "/next")
    wait_for(live, held, "/next")
    expect(panel.locator("article")).to_have_count(0)
