"""The limits of what the panel costs a reader: requests, bytes, layout shifts, posts in a task."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Request

from config.cache.wsgi import finish
from config.compression import compress_for_own_pages
from embeds.widget.assets import panel_script, panel_styles
from messaging.models import Account
from tests.factories import PersonFactory
from tests.widget.live import Live, panel_frame

STATIC = Path(__file__).resolve().parent.parent.parent / "static" / "embed"
GZIPPED_MAX = 45 * 1024
# What else the first opening sends is near 15,000 bytes, and a hundred more or less with ids and times: these keep a
# margin for it.
SCRIPTS_AND_STYLES_MAX = 30_800
LINES_MAX = 220
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
SHIFT = "shifts.reduce((sum, { value, hadRecentInput }) => sum + (hadRecentInput ? 0 : value), 0)"


def test_gzipped_scripts_and_styles_leave_room_for_the_rest_of_the_first_opening() -> None:
    assert len(panel_script().gzipped) + len(panel_styles().gzipped) <= SCRIPTS_AND_STYLES_MAX
    assert gzip.decompress(panel_script().gzipped) == panel_script().plain


def test_modules_have_at_most_220_lines() -> None:
    assert [
        file.name for file in (STATIC / "panel").glob("*.js") if len(file.read_text().splitlines()) > LINES_MAX
    ] == []


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


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
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
    page.wait_for_timeout(300)
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


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_panel_of_a_signed_in_person_adds_one_request(live: Live, ada: Account) -> None:
    add_messages(live)
    live.signed_in(ada)
    sent: list[str] = []
    live.context.on("request", lambda request: sent.append(request.url.removeprefix(live.app).split("?")[0]))
    live.follow()
    assert [path for path in sent if path.startswith("/v1/me/")] == ["/v1/me/reactions"]
    assert sent.count("/api/messages") == 1


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width", [390, 1440])
def test_panel_does_not_shift_while_it_opens(live: Live, width: int) -> None:
    add_messages(live)
    live.context.add_init_script(OBSERVE)
    page = live.context.new_page()
    page.set_viewport_size({"width": width, "height": 800})
    open_on(page, live)
    page.wait_for_timeout(200)
    shift: float = panel_frame(page).evaluate(SHIFT)
    assert shift < SHIFT_MAX
    alone = live.open_alone()
    alone.wait_for_timeout(200)
    assert alone.evaluate(SHIFT) < SHIFT_MAX


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_posts_are_created_a_few_in_a_task_and_formatters_after_the_start(live: Live) -> None:
    """The time of a task depends on the machine; the number of posts in one bounds it on any."""
    add_messages(live)
    live.context.add_init_script(COUNT_PER_TASK + FORMATTERS)
    page = live.open_alone()
    formatters = page.evaluate("formatters")
    assert formatters["early"] == []
    assert {*formatters["later"]} >= {"DateTimeFormat", "NumberFormat"}
    counts: list[int] = page.evaluate("perTask")
    assert page.locator("article").count() == 40
    assert max(counts) <= POSTS_PER_TASK_MAX


def open_on(page: Page, live: Live) -> None:
    page.goto(live.url)
    page.locator("community-embed button.trigger").click()
    page.frame_locator("iframe").locator(".thread[aria-busy=false]").wait_for()
