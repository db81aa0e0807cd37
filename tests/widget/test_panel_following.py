"""A panel misses no change when requests fail, its cursor is refused, or it was hidden. Its lists and streams are real
or get the response of a test; the clock of the browser is advanced."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Request, Route, expect

from messaging.models import Account
from tests.widget.clock import advance_until, poll, poll_until
from tests.widget.live import Live, panel_frame
from tests.widget.test_panel_own import write

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LIST = "**/api/messages?*"
CHANGES = "**/v1/changes?*"
PULL = "**/v1/changes?*cursor=*"
TAIL = "/v1/changes?*tail=true*"
STREAM = "/v1/changes/stream?*"
LEAVE = "dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))"
RETURN = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"
PULLS_MAX = 5
# Counts in the frame itself: its events reach the test later.
COUNT_CALLS = """() => {
  const { fetch } = window;
  window.calls = 0;
  window.fetch = (url, options) => {
    window.calls += String(url).includes("/v1/changes");
    return fetch(url, options);
  };
}"""


@pytest.fixture(autouse=True)
def _clock(live: Live) -> None:
    live.context.clock.install()


def unavailable(route: Route) -> None:
    route.fulfill(status=503, json={"error": "temporarily_unavailable"})


def refused(route: Route) -> None:
    """The panel does not repeat this by itself, so a test decides when it does."""
    route.fulfill(status=403, json={"error": "forbidden"})


def cursor_of(request: Request) -> str:
    return parse_qs(urlsplit(request.url).query)["cursor"][0]


def test_the_list_is_loaded_without_changes_after_a_refused_cursor_and_after_too_many_changes(live: Live) -> None:
    """Posts of the factory are in no change, so only a list has them."""
    live.context.route(CHANGES, unavailable)
    live.message(content="First")
    page, panel = live.follow("list")
    posts = panel.locator("article")
    live.message(content="Polled")
    poll_until(page, posts.nth(1))
    expect(posts).to_have_count(2)
    live.context.unroute(CHANGES)
    poll_until(page, panel.locator(".thread[data-live=poll]"))
    live.post("Changed")
    poll_until(page, posts.nth(2))
    expect(posts).to_have_count(3)

    live.context.route(PULL, lambda route: route.fulfill(status=410, json={"error": "cursor_expired"}), times=1)
    live.message(content="Expired")
    poll_until(page, posts.nth(3))
    expect(posts).to_have_count(4)
    pulled: list[Request] = []

    def never_done(route: Route) -> None:
        pulled.append(route.request)
        route.fulfill(json={"changes": [], "hasMore": True, "nextCursor": cursor_of(route.request)})

    live.context.route(PULL, never_done)
    live.message(content="Too many")
    poll_until(page, posts.nth(4))
    expect(posts).to_have_count(5)
    assert len(pulled) == PULLS_MAX
    live.context.unroute(PULL)
    live.post("Changed again")
    poll_until(page, posts.nth(5))
    expect(posts).to_have_count(6)


def test_list_is_polled_until_one_is_loaded_after_the_cursor_of_now(live: Live) -> None:
    live.message(content="First")
    cursors = live.intercept(TAIL)
    page, panel = live.open()
    cursor = live.wait_for_first(cursors)
    live.post("Before the cursor")
    live.context.route(LIST, unavailable, times=1)
    cursor.continue_()
    panel.locator(".thread[data-live=list]").wait_for()
    expect(panel.locator("article")).to_have_count(1)
    live.context.unroute(f"{live.app}{TAIL}")
    poll_until(page, panel.locator(".thread[data-live=poll]"))
    expect(panel.locator("article")).to_have_count(2)


def test_a_new_post_does_not_replace_the_notice_of_a_failed_list(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    live.messages(20)
    live.context.route(LIST, refused)
    page, panel = live.follow("list")
    posts, retry = panel.locator("article"), panel.get_by_role("button", name="Try again")
    live.post("Alone")
    live.context.unroute(LIST)
    poll_until(page, panel.locator(".thread[data-live=poll]"))
    expect(posts).to_have_count(20)
    expect(panel.get_by_role("button", name="Show more posts")).to_be_visible()

    live.context.route(LIST, refused)
    panel.get_by_label("Show posts by").select_option("People")
    expect(retry).to_be_visible()
    live.post("Of another")
    with page.expect_response(PULL):
        poll(page)
    # Changes are applied 50 ms after their response, before the post of the reader is sent.
    page.clock.run_for(100)
    expect(retry).to_be_visible()
    expect(posts).to_have_count(0)
    write(panel, "My own")
    expect(panel.locator("#toast")).to_have_text("Published.")
    expect(retry).to_be_visible()
    expect(posts).to_have_count(0)
    live.context.unroute(LIST)
    retry.click()
    expect(posts).to_have_count(20)
    expect(posts.first).to_contain_text("My own")


def test_resync_loads_the_list_and_a_resumed_panel_pulls_before_it_opens_a_stream(live: Live, settings: Any) -> None:
    settings.STREAM_URL = live.app
    streams = live.intercept(STREAM)
    live.message(content="First")
    page, panel = live.open()
    first = live.wait_for_first(streams)
    streams.clear()
    live.message(content="Second")
    event = f"retry: 10\nevent: resync\nid: {cursor_of(first.request)}\ndata: {{}}\n\n"
    first.fulfill(body=event, content_type="text/event-stream")
    expect(panel.locator("article")).to_have_count(2)

    live.wait_for_first(streams)
    streams.clear()
    frame = panel_frame(page)
    with page.expect_event("requestfailed", lambda request: "/stream?" in request.url):
        frame.evaluate(LEAVE)
    live.post("Third")
    with page.expect_response(PULL) as pulled:
        frame.evaluate(RETURN)
    expect(panel.locator("article")).to_have_count(3)
    assert cursor_of(live.wait_for_first(streams).request) == pulled.value.json()["nextCursor"]


def test_hidden_panel_stops_and_goes_on_where_it_was(live: Live) -> None:
    live.message(content="First")
    page, panel = live.follow()
    page.keyboard.press("Escape")
    # The panel learns by a message that it is closed.
    advance_until(page, panel.locator(".thread[data-live='']"), step_ms=61_000)
    frame = panel_frame(page)
    frame.evaluate(COUNT_CALLS)
    live.post("Second")
    poll(page)
    poll(page)
    assert frame.evaluate("window.calls") == 0
    page.get_by_role("button", name="Talk").click()
    # It polls at once. A jump of the clock would be a time-out of its requests.
    expect(panel.locator("article")).to_have_count(2)
    assert frame.evaluate("window.calls") >= 1
