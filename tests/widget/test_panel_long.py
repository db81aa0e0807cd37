"""A thread of a thousand posts: the work of one task is bounded for any number of posts.

Times depend on the machine, so posts and measurements are counted, and the time of the processor is measured.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Page, Route, expect

from tests.waiting import ATTEMPTS
from tests.widget.clock import poll_until
from tests.widget.live import Live
from tests.widget.test_panel_budget import COUNT_PER_TASK

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LIST = "**/api/messages?*"
POSTS = 1000
POSTS_PER_TASK_MAX = 4
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


def show_a_thousand_posts(live: Live) -> None:
    live.message(content="A post")

    def thousand(route: Route) -> None:
        body = route.fetch().json()
        message = body["messages"][-1]
        body["messages"] = [numbered(message, n) for n in range(POSTS)]
        route.fulfill(json=body)

    live.context.route(LIST, thousand)


def test_scrolling_through_a_thousand_posts_has_no_long_task(live: Live) -> None:
    show_a_thousand_posts(live)
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


def test_a_thousand_posts_are_added_and_measured_a_few_at_a_time(live: Live) -> None:
    show_a_thousand_posts(live)
    live.context.clock.install()
    live.context.add_init_script(COUNT_PER_TASK)
    live.context.add_init_script(COUNT_MEASURED)
    page = live.open_alone()
    page.locator("[data-live=poll]").wait_for()
    expect(page.locator("article")).to_have_count(POSTS)
    assert max(page.evaluate("perTask")) <= POSTS_PER_TASK_MAX

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
