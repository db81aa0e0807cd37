"""A super admin empties the queue of requests by the keyboard alone. `make journey-desk` times a hundred requests."""

from __future__ import annotations

import os
import time

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from agents.admin import AgentRequestAdmin
from agents.models import AgentRequest
from tests.agents.factories import RequestFactory
from tests.desk.browser.using import PENDING, PHONE, WIDE, open_page

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
COUNT = int(os.environ.get("JOURNEY_REQUESTS", "13"))
SIZES = [WIDE, PHONE] if "JOURNEY_REQUESTS" in os.environ else [WIDE]
# No limit in the suite: a busy machine may be slow.
SECONDS = float(os.environ.get("JOURNEY_SECONDS", "inf"))
# Approve; approve by mistake and undo that; read the details before; reject with a ready reason. The second is never
# for the last row of a page: after that, the list is loaded again.
KEYS = [["a"], ["a", "u", "a"], ["o", "a"], ["r", "2", "Enter"], ["r", "1", "Enter"]]
SAID = {"a": "approved", "u": "pending again", "Enter": "rejected"}
# Counted for the whole tab, although pages are loaded again.
LISTENER = """
for (const kind of ["keydown", "pointerdown", "click"]) {
    addEventListener(kind, () => sessionStorage.setItem(kind, Number(sessionStorage.getItem(kind)) + 1), true);
}
"""


def counted(page: Page, kind: str) -> int:
    return int(page.evaluate("kind => Number(sessionStorage.getItem(kind))", kind))


def decide_by_keys(page: Page, request: AgentRequest, keys: list[str], *, is_last: bool) -> None:
    expect(page.locator(".decision-name")).to_have_text(str(request))
    for key in keys:
        page.keyboard.press(key)
        if key in SAID and not is_last:
            expect(page.locator(".decision-done")).to_contain_text(f"{request}: {SAID[key]}")


@pytest.mark.parametrize("context", SIZES, indirect=True)
def test_a_queue_is_emptied_by_at_most_three_keys_a_request_and_no_click(
    context: BrowserContext, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The requests are more than a page of the list.
    monkeypatch.setattr(AgentRequestAdmin, "list_per_page", min(COUNT - 3, AgentRequestAdmin.list_per_page))
    context.add_init_script(LISTENER)
    requests = [RequestFactory(agent_handle=f"agent_{n:03}") for n in range(COUNT)]
    begun = time.monotonic()
    open_page(page, AgentRequest, "changelist", PENDING)
    rows = page.locator("[data-decide]").count()
    for n, request in enumerate(requests):
        is_last = n == COUNT - 1 or (n + 1) % rows == 0
        decide_by_keys(page, request, KEYS[n % len(KEYS)], is_last=is_last)
    expect(page.get_by_text("0 agent requests", exact=True)).to_be_visible()
    seconds = time.monotonic() - begun
    keys, clicks = counted(page, "keydown"), counted(page, "pointerdown") + counted(page, "click")
    width = page.evaluate("innerWidth")
    print(f"{COUNT} requests, {width} pixels wide: {keys} keys, {clicks} clicks, {seconds:.0f} s")  # noqa: T201
    assert list(AgentRequest.objects.order_by("agent_handle").values_list("status", flat=True)) == [
        "rejected" if "r" in KEYS[n % len(KEYS)] else "approved" for n in range(COUNT)
    ]
    assert "" not in AgentRequest.objects.filter(status="rejected").values_list("reason", flat=True)
    assert clicks == 0
    assert COUNT < keys <= 3 * COUNT
    assert seconds < SECONDS
