"""What the loader may cost a page, each as a figure."""

from __future__ import annotations

import pytest

from embeds.widget.loader import loader
from tests.widget.sites import HOST, Site, html, tag

GZIPPED_MAX = 6 * 1024
LONG_TASK_MS = 50
# A plain page of real length, so that a shift would move something.
PLAIN = html("".join(f"<h2>Part {n}</h2><p>{'Words of a plain page. ' * 40}</p>" for n in range(40)) + tag())
# What the browser says when a visit ends; the requests of a page that is really gone are out of the tests' sight.
LEAVE = "dispatchEvent(new PageTransitionEvent('pagehide'))"
OBSERVE = """
const watch = (type, field, found) => {
  const observer = new PerformanceObserver((list) => found.push(...list.getEntries().map((entry) => entry[field])));
  observer.observe({ type, buffered: true });
  return found;
};
window.shifts = watch("layout-shift", "value", []);
window.tasks = watch("longtask", "duration", []);
"""


def test_six_kilobytes() -> None:
    assert len(loader().gzipped) <= GZIPPED_MAX


@pytest.mark.browser
def test_two_requests_no_cookie_no_storage_until_a_click(site: Site) -> None:
    page = site.open()
    page.mouse.move(600, 400)
    page.mouse.wheel(0, 300)
    page.evaluate("history.pushState(null, '', '/second')")
    page.wait_for_timeout(300)
    beyond_the_page = [request.url for request in site.requests if not request.url.startswith(HOST)]
    assert len(beyond_the_page) == 2
    assert site.context.cookies() == []
    assert page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]
    assert page.evaluate("indexedDB.databases()") == []
    assert page.evaluate("caches.keys()") == []


@pytest.mark.browser
def test_events_are_sent_at_the_end_of_a_visit_without_a_click(site: Site) -> None:
    page = site.open(f"{HOST}/a?secret=1#x")
    page.evaluate(LEAVE)
    page.wait_for_timeout(50)
    assert site.events == [
        {"serviceId": "e1", "event": name, "pageUrl": f"{HOST}/a"} for name in ("embed_load", "trigger_view")
    ]


@pytest.mark.browser
def test_global_privacy_control_silences_every_event(site: Site) -> None:
    site.context.add_init_script("Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })")
    page = site.open()
    page.get_by_role("button", name="Talk").click()
    page.frame_locator("iframe").get_by_role("button").wait_for()
    page.evaluate(LEAVE)
    page.wait_for_timeout(50)
    assert site.events == []


@pytest.mark.browser
def test_no_layout_shift_and_no_long_task(site: Site) -> None:
    """The best of five loads: a busy machine makes any task long, but not every time."""
    site.context.add_init_script(OBSERVE)
    site.page = PLAIN
    long_tasks = []
    for _ in range(5):
        page = site.open()
        page.wait_for_timeout(100)
        assert page.evaluate("shifts") == []
        long_tasks.append([task for task in page.evaluate("tasks") if task > LONG_TASK_MS])
        if not long_tasks[-1]:
            break
        page.close()
    assert long_tasks[-1] == []
