"""The limits of what the panel costs a reader: requests, bytes, layout shifts, posts in a task.

The work of one task is bounded for any number of posts. Times depend on the machine, so posts and measurements are
counted, and the time of the processor is measured.

`tests/widget/test_modules.py` has those of the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from playwright.sync_api import Page, Request, Route, expect

from kernel.cache.wsgi import finish
from kernel.compression import compress_for_own_pages
from messaging.models import Account
from tests.factories import PersonFactory
from tests.waiting import ATTEMPTS
from tests.widget.clock import poll_until
from tests.widget.live import Live, panel_frame

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
GZIPPED_MAX = 45 * 1024
REQUESTS_MAX = 6
SHIFT_MAX = 0.01
# Each with its top reply.
POSTS_PER_TASK_MAX = 8
# Neither icons, nor beacons, nor the event stream delay the first posts.
UNCOUNTED = ("/static/pages/icon.svg", "/api/embeds/analytics/events", "/v1/changes/stream")
# Runs in every frame; the host page has no such limit here.
OBSERVE = """
window.shifts = [];
new PerformanceObserver((list) => shifts.push(...list.getEntries())).observe({ type: "layout-shift", buffered: true });
"""
# An observer is called before the next task.
COUNT_PER_TASK = """
window.perTask = [];
let shown = 0;
new MutationObserver(() => {
  const now = document.querySelectorAll("article").length;
  perTask.push(now - shown);
  shown = now;
}).observe(document, { childList: true, subtree: true });
"""
# The script of the panel starts before this event. The first formatter costs more than all else in that task.
FORMATTERS = """
window.formatters = { early: [], later: [] };
let name = "early";
addEventListener("DOMContentLoaded", () => { name = "later"; });
for (const kind of ["PluralRules", "NumberFormat", "RelativeTimeFormat", "DateTimeFormat"]) {
  const construct = (target, values) => { formatters[name].push(kind); return new target(...values); };
  Intl[kind] = new Proxy(Intl[kind], { construct });
}
"""
# Some frames later, the observers have been told of what was drawn.
DRAWN = """(async () => {
  for (let frame = 0; frame < 5; frame++) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
})()"""
SHIFT = "shifts.reduce((sum, { value, hadRecentInput }) => sum + (hadRecentInput ? 0 : value), 0)"
LIST = "**/api/messages?*"
POSTS = 500
MANY_PER_TASK_MAX = 4
MEASURED_MAX = 200
COUNT_MEASURED = """
window.measured = 0;
const original = Element.prototype.getBoundingClientRect;
Element.prototype.getBoundingClientRect = function () {
  measured += 1;
  return original.call(this);
};
"""

STEPS = 40
TASK_MS = 50
SCROLL = """async (STEPS) => {
  const scroller = document.getElementById("scroll");
  const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  for (let step = 0; step < STEPS; step++) {
    scroller.scrollTop = (scroller.scrollHeight - scroller.clientHeight) * (step / (STEPS - 1));
    await drawn();
  }
  await drawn();
}"""

# A task has this name in the traces of Chromium.
TASK = "ThreadControllerImpl::RunTask"


def add_messages(live: Live) -> None:
    """A full first list, with replies, reactions and attachments. The names are as long in each run."""
    text = "Words of a usual length, as people write them below an article: two lines, sometimes three of them."
    attachments = [{"type": "image/png", "url": "https://example.org/a.png"}]
    for n in range(20):
        author, answering = (PersonFactory(handle=f"{role}_{1000 + 67 * n}") for role in ("writer", "reader"))
        post = live.message(content=f"Post {n}. {text}", attachments=attachments, author=author)
        live.message(content=f"Reply. {text}", parent=post, author=answering)
    live.reaction(post, "👍")


@pytest.fixture
def _compressing(live_server: Any) -> Iterator[None]:
    """Compress responses as the WSGI application does, of which the server of the tests runs Django alone."""
    server = live_server.thread.httpd
    application = server.get_app()
    server.set_app(compress_for_own_pages(lambda environ, start: finish(application(environ, start))))
    yield
    server.set_app(application)


@pytest.mark.usefixtures("_compressing")
def test_first_opening_sends_six_requests_of_45_kilobytes_and_none_to_other_origins(live: Live) -> None:
    add_messages(live)
    finished: list[Request] = []
    # Playwright cannot register a built-in method as a listener.
    live.context.on("requestfinished", lambda request: finished.append(request))  # noqa: PLW0108
    page, _ = live.follow()
    for _ in range(200):
        if len(counted(finished)) >= REQUESTS_MAX:
            break
        page.wait_for_timeout(50)
    page.wait_for_load_state("networkidle")
    opening = counted(finished)
    assert {urlsplit(request.url).netloc for request in opening} == {urlsplit(live.app).netloc}
    assert sorted(f"{request.method} {path_of(request)}" for request in opening) == [
        "GET /api/messages",
        "GET /embed/panel",
        "GET /embed/panel.css",
        "GET /embed/panel.js",
        "GET /v1/changes",
        "POST /v1/presence/normalize-url",
    ]
    sizes = {path_of(request): size_of(request) for request in opening}
    assert sum(sizes.values()) <= GZIPPED_MAX, sizes
    assert live.context.cookies() == []


def counted(requests: list[Request]) -> list[Request]:
    return [request for request in requests if request.frame.parent_frame and path_of(request) not in UNCOUNTED]


def path_of(request: Request) -> str:
    return urlsplit(request.url).path


def size_of(request: Request) -> int:
    """Bytes over the wire in both directions, headers included."""
    sizes: Any = request.sizes()
    return sum(
        sizes[part] for part in ("requestBodySize", "requestHeadersSize", "responseBodySize", "responseHeadersSize")
    )


def test_panel_does_not_shift_while_it_opens(live: Live) -> None:
    add_messages(live)
    live.context.add_init_script(OBSERVE)
    for width in (390, 1440):
        page = live.context.new_page()
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(live.url)
        page.locator("community-embed button.trigger").click()
        page.frame_locator("iframe").locator(".thread[aria-busy=false]").wait_for()
        frame = panel_frame(page)
        frame.evaluate(DRAWN)
        assert frame.evaluate(SHIFT) < SHIFT_MAX
        page.goto(live.panel_url())
        page.locator(".thread[aria-busy=false]").wait_for()
        page.evaluate(DRAWN)
        assert page.evaluate(SHIFT) < SHIFT_MAX
        page.close()


def test_posts_are_created_a_few_in_a_task_formatters_after_the_start_and_a_session_adds_one_request(
    live: Live, ada: Account
) -> None:
    """The time of a task depends on the machine; the number of posts in one bounds it on any."""
    add_messages(live)
    live.context.add_init_script(COUNT_PER_TASK + FORMATTERS)
    live.signed_in(ada)
    sent: list[str] = []
    live.context.on("request", lambda request: sent.append(request.url.removeprefix(live.app).split("?")[0]))
    page = live.open_alone()
    page.locator(".thread[data-live=poll]").wait_for()
    assert [path for path in sent if path.startswith("/v1/me/")] == ["/v1/me/reactions"]
    assert sent.count("/api/messages") == 1
    formatters = page.evaluate("formatters")
    assert formatters["early"] == []
    assert {*formatters["later"]} >= {"DateTimeFormat", "NumberFormat"}
    counts: list[int] = page.evaluate("perTask")
    assert page.locator("article").count() == 40
    assert max(counts) <= POSTS_PER_TASK_MAX


def show_many_posts(live: Live) -> None:
    live.message(content="A post")

    def many(route: Route) -> None:
        body = route.fetch().json()
        message = body["messages"][-1]
        body["messages"] = [numbered(message, n) for n in range(POSTS)]
        route.fulfill(json=body)

    live.context.route(LIST, many)


def test_scrolling_through_many_posts_has_no_long_task(live: Live) -> None:
    show_many_posts(live)
    page = live.open_alone()
    expect(page.locator("article")).to_have_count(POSTS)
    assert any(longest_task(page) <= TASK_MS for _ in range(ATTEMPTS))


def longest_task(page: Page) -> float:
    """Scroll from the first post to the last; return the milliseconds of the processor in the longest task."""
    browser = page.context.browser
    assert browser
    browser.start_tracing(page=page, categories=["toplevel", "__metadata"])
    page.evaluate(SCROLL, STEPS)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    mains = {(event["pid"], event["tid"]) for event in events if event.get("args", {}).get("name") == "CrRendererMain"}
    tasks = [event for event in events if event["name"] == TASK and (event["pid"], event["tid"]) in mains]
    assert len(tasks) > STEPS
    # A task in which the recording begins or ends has no time of the processor.
    return max(event.get("tdur", 0) for event in tasks) / 1000


def test_many_posts_are_added_and_measured_a_few_at_a_time(live: Live) -> None:
    show_many_posts(live)
    live.context.clock.install()
    live.context.add_init_script(COUNT_PER_TASK)
    live.context.add_init_script(COUNT_MEASURED)
    page = live.open_alone()
    page.locator("[data-live=poll]").wait_for()
    expect(page.locator("article")).to_have_count(POSTS)
    assert max(page.evaluate("perTask")) <= MANY_PER_TASK_MAX

    page.locator("article").nth(POSTS // 2).scroll_into_view_if_needed()
    before = page.locator("article").nth(POSTS // 2).bounding_box()
    page.evaluate("measured = 0")
    live.post("New")
    poll_until(page, page.get_by_role("button", name="1 new post"))
    assert page.evaluate("measured") <= MEASURED_MAX
    assert page.locator("article").nth(POSTS // 2).bounding_box() == before
    assert not live.errors


def numbered(message: dict[str, Any], n: int) -> dict[str, Any]:
    """Newest first: each is a second older than the one before it."""
    second = POSTS - n
    created_at = f"2026-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000000Z"
    return {**message, "id": str(UUID(int=n + 1)), "content": f"Post {n}", "createdAt": created_at}
