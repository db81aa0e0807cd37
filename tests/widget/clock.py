"""Advances the clock of a browser, after `clock.install()`."""

from __future__ import annotations

from contextlib import suppress

from playwright.sync_api import Error, Locator, Page

from tests.browser import PATIENCE_MS

# The longest pause between two polls of a panel is 45 seconds.
POLL_MS = 46_000
ADVANCES_MAX = 60
# Longer than the panel waits for a response: the clock is not advanced while a request is on its way.
ARRIVES_WITHIN_MS = 20_000


def poll(page: Page) -> None:
    page.clock.fast_forward(POLL_MS)


def advance_and_stop(page: Page, milliseconds: int) -> None:
    """Advance the clock, and stop it until `page.clock.resume()`: a notice that vanishes by itself stays."""
    page.clock.pause_at((page.evaluate("Date.now()") + milliseconds) / 1000)


def poll_until(page: Page, locator: Locator) -> None:
    """Poll until the document has the element: on a busy machine, a response may be too late for the panel."""
    for _ in range(PATIENCE_MS // ARRIVES_WITHIN_MS):
        poll(page)
        with suppress(Error):
            locator.wait_for(state="attached", timeout=ARRIVES_WITHIN_MS)
            return
    locator.wait_for(state="attached")


def advance_until(page: Page, locator: Locator, step_ms: int = 2_000) -> None:
    """Advance the clock until the document has the element."""
    for _ in range(ADVANCES_MAX):
        if locator.count():
            return
        page.clock.fast_forward(step_ms)
        page.wait_for_timeout(100)
    locator.wait_for(state="attached")
