"""A panel that cannot reach the service says so, and tries again by itself."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from embeds.widget.locales import words
from tests.widget.live import Live

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PANEL, LOADER = words("en")["panel"], words("en")["loader"]
API = "**/v1/presence/normalize-url"


def test_posts_appear_by_themselves_when_the_browser_is_online_again(live: Live) -> None:
    live.message(content="Out of reach")
    page = live.context.new_page()
    page.goto(live.url)
    # The address of the page is asked for first; the panel itself is in the browser.
    live.context.route(API, lambda route: route.abort("internetdisconnected"))
    page.locator("community-embed button.trigger").click()
    panel = page.frame_locator("iframe")
    notice = panel.get_by_role("alert")
    expect(notice).to_contain_text(words("en")["error"]["network"])
    expect(notice).to_contain_text(PANEL["retrying"])
    live.context.set_offline(True)
    live.context.unroute(API)
    live.context.set_offline(False)
    expect(panel.locator("article .content")).to_have_text(["Out of reach"])


def test_posts_appear_by_themselves_after_a_pause(live: Live) -> None:
    live.context.clock.install()
    live.message(content="Out of reach")
    live.context.route("**/api/messages?*", lambda route: route.fulfill(status=503, json={"error": "x"}))
    page, panel = live.open()
    expect(panel.get_by_role("alert")).to_contain_text(PANEL["retrying"])
    live.context.unroute("**/api/messages?*")
    page.clock.fast_forward(10_000)
    expect(panel.locator("article .content")).to_have_text(["Out of reach"])


def test_failure_that_another_attempt_does_not_change_is_not_repeated(live: Live) -> None:
    live.context.route(API, lambda route: route.fulfill(status=400, json={"error": "invalid_url"}))
    _, panel = live.open()
    expect(panel.get_by_role("alert")).to_contain_text(words("en")["error"]["invalid_url"])
    expect(panel.get_by_role("alert")).not_to_contain_text(PANEL["retrying"])


def test_repeated_failure_is_announced_once(live: Live) -> None:
    live.context.clock.install()
    live.context.route(API, lambda route: route.abort("connectionrefused"))
    page, panel = live.open()
    alert = panel.get_by_role("alert")
    alert.evaluate("(node) => { node.dataset.first = 'yes'; }")
    with page.expect_request(API):
        page.clock.fast_forward(10_000)
    panel.locator(".thread[aria-busy=false]").wait_for()
    expect(alert).to_have_attribute("data-first", "yes")


def test_panel_that_cannot_be_loaded_says_so_and_is_loaded_by_itself(live: Live) -> None:
    live.message(content="Out of reach")
    page = live.context.new_page()
    page.goto(live.url)
    live.context.route("**/embed/panel?*", lambda route: route.abort("internetdisconnected"))
    page.locator("community-embed button.trigger").click()
    expect(page.locator("community-embed .failed")).to_contain_text(LOADER["offline"])
    live.context.unroute("**/embed/panel?*")
    expect(page.frame_locator("iframe").locator("article .content")).to_have_text(["Out of reach"], timeout=30_000)
    expect(page.locator("community-embed .failed")).to_be_hidden()
