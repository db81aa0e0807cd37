"""The demo as `make run` starts it, with streams: the processes of the service, the demo page on two origins, and
panels in two windows that follow the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, FrameLocator, Locator, Route, expect

from tests.browser import PATIENCE_MS
from tests.clients import Clients, Person
from tests.remote import Remote
from tests.service import Service, running_service
from tests.streams.faults import kill_stream_process, stream_processes
from tests.waiting import eventually
from tests.widget.clock import advance_until
from tests.widget.live import SIGN_IN, intercept, wait_for_first, wait_until_drawn
from tests.widget.sign_in import cookies_of, open_window, submit
from tests.widget.test_panel_own import write

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser]

STREAM = "**/v1/changes/stream*"
CHECK = "**/v1/changes?*limit=1"
POLL = "/v1/changes?"
numbers = count(1)


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running_service(DEMO="1", STREAMS="1") as service:
        yield service


@pytest.fixture
def clients(service: Service) -> Clients:
    """With a connection of its own: the service closes those that are idle."""
    return Clients(service)


@dataclass(frozen=True)
class Demo:
    """The demo page in a browser, and an agent that posts to it."""

    service: Service
    context: BrowserContext
    facts: dict[str, Any]

    def open(self, mode: str = "stream") -> FrameLocator:
        """Open the page and its panel in a new window; return when it follows the page."""
        page = self.context.new_page()
        page.goto(f"http://localhost:{self.service.port}/demo/")
        page.get_by_role("button", name="Discuss this story").click()
        panel = page.frame_locator("iframe")
        # The browser has 8 seconds to open a stream before the panel polls.
        panel.locator(f".thread[data-live={mode}]").wait_for()
        return panel

    def post(self, **fields: Any) -> tuple[str, str]:
        """Post as the command that `make run` prints; returns the text and the id."""
        text = f"Post {next(numbers)} of the agent."
        body = {"pageId": self.facts["pageId"], "communityId": self.facts["communityId"], "content": text}
        agent = {"Authorization": f"Bearer {self.facts['agentToken']}"}
        reply = Remote(self.service.port, agent).call("POST", "/api/messages", body | fields)
        assert reply.status == 201, reply
        return text, reply.json["id"]

    @property
    def credentials(self) -> dict[str, str]:
        return {name: self.facts["person"][name] for name in ("handle", "password")}

    def totals(self, events: Sequence[str]) -> dict[str, int]:
        """How often each of these events was counted."""
        login = Remote(self.service.port).call("POST", "/api/auth/login", self.credentials)
        operator = Remote(self.service.port, {"Authorization": f"Bearer {login.json['accessToken']}"})
        counted = operator.call("GET", f"/api/embeds/analytics/{self.facts['embedId']}").json["totals"]
        return {name: counted[name] for name in events}

    def sign_in(self, person: Person) -> None:
        """Store a session of this person in the tabs of the panel's origin."""
        token = person.user["Authorization"].removeprefix("Bearer ")
        user = {"id": person.id, "name": person.handle, "handle": person.handle, "kind": "human"}
        session = {"token": token, "userId": person.id, "expiresAt": "2999-01-01T00:00:00Z", "user": user}
        origin = self.service.base_url
        self.context.add_init_script(f"({SIGN_IN})({json.dumps([origin, session])})")


@pytest.fixture
def demo(service: Service, context: BrowserContext) -> Demo:
    return Demo(service, context, json.loads((service.data / "demo.json").read_text()))


def shown(panel: FrameLocator, text: str) -> Locator:
    return panel.locator("article > .body > .said > .content", has_text=text)


def test_demo_visit_signs_in_posts_reacts_and_is_counted(demo: Demo) -> None:
    counted = "embed_load trigger_view trigger_click panel_open panel_close post_created reaction_added"
    events = counted.split()
    before = demo.totals(events)
    panel = demo.open()
    (page,) = demo.context.pages
    expect(panel.locator("article", has_text="Demo Librarian").locator(".badge").first).to_have_text("Agent")
    wait_until_drawn(page, panel.locator("h1"))
    window = open_window(panel, page)
    with window.expect_event("close"):
        submit(window, "login", **demo.credentials)
    write(panel, "Hello from the demo page")
    post = panel.locator("article", has_text="Hello from the demo page")
    post.get_by_role("button", name="React").click()
    post.get_by_role("button", name="🎉").click()
    expect(post.locator(".chip")).to_have_text("🎉1")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    # A browser sends the events without waiting.
    expected = {name: count + 1 for name, count in before.items()}
    eventually(lambda: demo.totals(events).items() >= expected.items(), seconds=PATIENCE_MS / 1_000)
    assert demo.totals(events) == expected
    cookies = [(cookie["name"], cookie.get("partitionKey")) for cookie in cookies_of(demo.context)]
    assert cookies == [("__Host-panel", "http://localhost")]


def test_visit_without_a_click_is_counted_when_it_ends(demo: Demo) -> None:
    before = demo.totals(["trigger_view"])["trigger_view"]
    page = demo.context.new_page()
    page.goto(f"{demo.service.base_url}/demo/")
    expect(page.get_by_role("button", name="Discuss this story")).to_be_visible()
    page.goto("about:blank")
    assert eventually(lambda: demo.totals(["trigger_view"])["trigger_view"] > before)
    assert demo.totals(["trigger_view"])["trigger_view"] == before + 1


def test_post_of_an_agent_is_shown_in_two_windows_without_a_poll(demo: Demo) -> None:
    polls: list[str] = []
    demo.context.on("request", lambda request: polls.append(request.url) if POLL in request.url else None)
    panels = [demo.open(), demo.open()]
    before = len(polls)
    text, _ = demo.post()
    for panel in panels:
        expect(shown(panel, text)).to_have_count(1)
        expect(panel.locator("article").first).to_contain_text(text)
    assert polls[before:] == []


def test_replies_and_reactions_in_one_window_are_shown_and_counted_in_the_other(demo: Demo, clients: Clients) -> None:
    root, root_id = demo.post()
    for _ in range(2):
        demo.post(parentId=root_id)
    demo.sign_in(clients.person())
    first, second = (panel.locator(".thread > .list > article", has_text=root) for panel in (demo.open(), demo.open()))
    first.get_by_role("button", name="Show 1 more reply").click()
    expect(first.locator("article.reply")).to_have_count(2)
    text, _ = demo.post(parentId=root_id)
    expect(first.locator("article.reply .content").last).to_have_text(text)
    expect(first.locator("article.reply")).to_have_count(3)
    first.locator("> .body").get_by_role("button", name="React").click()
    first.locator("> .body").get_by_role("button", name="🎉").click()
    expect(second.locator(".chip")).to_have_text("🎉1")
    expect(second.locator(".chip")).to_have_attribute("aria-pressed", "true")


def test_stream_goes_on_after_its_process_was_killed(demo: Demo) -> None:
    panel = demo.open()
    before, _ = demo.post()
    expect(shown(panel, before)).to_have_count(1)
    kill_stream_process(demo.service)
    meanwhile, _ = demo.post()
    expect(shown(panel, meanwhile)).to_have_count(1)
    expect(shown(panel, before)).to_have_count(1)
    panel.locator(".thread[data-live=stream]").wait_for()


def test_panel_polls_while_the_stream_is_unreachable_or_brings_nothing_and_returns_to_it(demo: Demo) -> None:
    """The process is stopped, but its connections are open: as a proxy that holds back events, or a lost network."""
    demo.context.clock.install()
    demo.context.route(STREAM, lambda route: route.abort())
    panel = demo.open("poll")
    (page,) = demo.context.pages
    text, _ = demo.post()
    advance_until(page, shown(panel, text))
    demo.context.unroute(STREAM)
    advance_until(page, panel.locator(".thread[data-live=stream]"))
    text, _ = demo.post()
    expect(shown(panel, text)).to_have_count(1)

    (process,) = stream_processes(demo.service)
    process.suspend()
    try:
        text, _ = demo.post()
        with page.expect_response(CHECK):
            page.clock.fast_forward(46_000)
        advance_until(page, panel.locator(".thread[data-live=poll]"))
        advance_until(page, shown(panel, text))
    finally:
        process.resume()
    advance_until(page, panel.locator(".thread[data-live=stream]"))
    expect(shown(panel, text)).to_have_count(1)


def test_check_of_a_stream_that_is_lost_meanwhile_does_not_prevent_polling(demo: Demo) -> None:
    demo.context.clock.install()
    panel = demo.open()
    page = demo.context.pages[0]
    checks, streams = intercept(demo.context, CHECK), intercept(demo.context, STREAM)
    page.clock.fast_forward(46_000)
    check = wait_for_first(demo.context, checks)
    kill_stream_process(demo.service)
    wait_for_first(demo.context, streams)
    with page.expect_response(CHECK):
        check.continue_()
    advance_until(page, panel.locator(".thread[data-live=poll]"), step_ms=9_000)


def test_ones_own_reply_is_shown_once_if_its_event_precedes_the_response(demo: Demo, clients: Clients) -> None:
    text, _ = demo.post()
    demo.sign_in(clients.person())
    panel = demo.open()
    post = panel.locator(".thread > .list > article", has_text=text)
    post.get_by_role("button", name="Reply").click()
    post.locator("textarea").fill("Mine")
    late: list[tuple[Route, Any]] = []
    demo.context.route("**/api/messages", lambda route: late.append((route, route.fetch())))
    post.locator("form").get_by_role("button", name="Reply").click()
    expect(post.locator("article.reply")).to_have_count(1)
    route, response = late[0]
    route.fulfill(response=response)
    expect(panel.locator("#toast")).to_have_text("Published.")
    expect(post.locator("article.reply")).to_have_count(1)
    expect(post.locator("> .replies > .more")).to_be_hidden()
