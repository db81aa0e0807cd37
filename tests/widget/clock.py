"""Advances the clock of a browser, after `clock.install()`."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

# The longest pause between two polls of a panel is 45 seconds.
POLL_MS = 46_000
ADVANCES_MAX = 60


def poll(page: Page) -> None:
    page.clock.fast_forward(POLL_MS)


def advance_until(page: Page, locator: Locator, step_ms: int = 2_000) -> None:
    """Advance the clock until the document has the element."""
    for _ in range(ADVANCES_MAX):
        if locator.count():
            return
        page.clock.fast_forward(step_ms)
        page.wait_for_timeout(100)
    locator.wait_for(state="attached")
