"""A panel that cannot reach the service says so, and tries again by itself."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import expect

from embeds.widget.locales import words
from tests.waiting import PATIENCE_SECONDS
from tests.widget.clock import advance_and_stop, advance_until
from tests.widget.live import Live

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PANEL, LOADER = words("en")["panel"], words("en")["loader"]
API, LIST = "**/v1/presence/normalize-url", "**/api/messages?*"
BEGINNING = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"messages": ['
# The clock of Playwright does not advance `AbortSignal.timeout`; `expire()` does.
OBSERVE = """
const { json } = Response.prototype;
Response.prototype.json = function () {
  if (this.url.includes("/api/messages?")) document.documentElement.dataset.isReading = "";
  return json.call(this);
};
const calls = [];
AbortSignal.timeout = () => { calls.push(new AbortController()); return calls.at(-1).signal; };
window.expire = () => calls.forEach((call) => call.abort(new DOMException("", "TimeoutError")));
"""


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


@pytest.mark.parametrize(("url", "error"), [(LIST, "temporarily_unavailable"), (API, "network")])
def test_repeated_failure_is_announced_once_and_posts_appear_by_themselves_after_a_pause(
    live: Live, url: str, error: str
) -> None:
    live.context.clock.install()
    live.message(content="Out of reach")
    if error == "network":
        live.context.route(url, lambda route: route.abort("connectionrefused"))
    else:
        live.context.route(url, lambda route: route.fulfill(status=503, json={"error": "x"}))
    page = live.open_alone()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(PANEL["retrying"])
    alert.evaluate("(node) => { node.dataset.first = 'yes'; }")
    with page.expect_request(url):
        page.clock.fast_forward(10_000)
    page.locator(".thread[aria-busy=false]").wait_for()
    expect(alert).to_have_attribute("data-first", "yes")
    live.context.unroute(url)
    advance_until(page, page.locator("article .content"), step_ms=10_000)
    expect(page.locator("article .content")).to_have_text(["Out of reach"])


@contextmanager
def broken_off() -> Iterator[tuple[str, Callable[[], None]]]:
    """Begin a response to each request; yields the origin, and a function that closes the connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        connections: list[socket.socket] = []

        def begin() -> None:
            while True:
                try:
                    connection = server.accept()[0]
                except OSError:
                    return
                connections.append(connection)
                # A browser opens a connection for later, or closes it before it sends anything.
                with suppress(OSError):
                    connection.recv(65536)
                    connection.sendall(BEGINNING)

        def close() -> None:
            for connection in connections:
                connection.close()

        thread = Thread(target=begin)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/", close
        finally:
            server.shutdown(socket.SHUT_RDWR)
            for connection in connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE_SECONDS)
            close()


@pytest.mark.parametrize("code", ["network", "timeout"])
def test_response_that_breaks_off_is_loaded_again_after_a_pause(live: Live, code: str) -> None:
    live.context.clock.install()
    live.context.add_init_script(OBSERVE)
    live.message(content="Out of reach")
    with broken_off() as (origin, close):
        live.context.route(LIST, lambda route: route.continue_(url=origin), times=1)
        page = live.context.new_page()
        page.goto(live.panel_url())
        page.locator("html[data-is-reading]").wait_for()
        advance_and_stop(page, 2_000)
        if code == "network":
            close()
        else:
            page.evaluate("expire()")
        notice = page.get_by_role("alert")
        expect(notice).to_contain_text(words("en")["error"][code])
        expect(notice).to_contain_text(PANEL["retrying"])
        page.clock.fast_forward(10_000)
        expect(page.locator("article .content")).to_have_text(["Out of reach"])


@pytest.mark.parametrize(
    ("url", "response", "error"),
    [
        (API, {"status": 400, "json": {"error": "invalid_url"}}, "invalid_url"),
        (LIST, {"body": "<p>Welcome to the network", "content_type": "text/html"}, "temporarily_unavailable"),
    ],
)
def test_failure_that_another_attempt_does_not_change_is_explained_and_not_repeated(
    live: Live, url: str, response: dict[str, Any], error: str
) -> None:
    live.context.route(url, lambda route: route.fulfill(**response))
    alert = live.open_alone().get_by_role("alert")
    expect(alert).to_contain_text(words("en")["error"][error])
    expect(alert).not_to_contain_text(PANEL["retrying"])


def test_panel_that_cannot_be_loaded_says_so_and_is_loaded_by_itself(live: Live) -> None:
    live.context.clock.install()
    live.message(content="Out of reach")
    page = live.context.new_page()
    page.goto(live.url)
    live.context.route("**/embed/panel?*", lambda route: route.abort("internetdisconnected"))
    page.locator("community-embed button.trigger").click()
    failed, panel = page.locator("community-embed .failed"), page.frame_locator("iframe")
    advance_until(page, failed.filter(has_text=LOADER["offline"]))
    live.context.unroute("**/embed/panel?*")
    advance_until(page, panel.locator("article .content"))
    expect(panel.locator("article .content")).to_have_text(["Out of reach"])
    expect(failed).to_be_hidden()
