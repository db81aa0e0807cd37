"""The sign-in window of a panel, as a person uses it."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import BrowserContext, FrameLocator, Locator, Page

from tests.browser import PATIENCE_MS


def open_window(panel: FrameLocator | Page, page: Page) -> Page:
    """Press the button of a panel; return the window that it opens, which may be loading."""
    with page.context.expect_page() as opened:
        panel.get_by_role("button", name="Sign in").click()
    return opened.value


def cookies_of(context: BrowserContext) -> list[Any]:
    """Without the one by which the window recognises a browser that has signed in, which no panel gets."""
    return [cookie for cookie in context.cookies() if (cookie["name"], cookie["sameSite"]) != ("known", "Lax")]


def submit(window: Page, form: str, **fields: str) -> None:
    """Send the form with this id, with these values."""
    for name, value in fields.items():
        enter(window.locator(f"#{form} [name={name}]"), value)
    window.locator(f"#{form} [type=submit]").click()


def enter(field: Locator, value: str) -> None:
    """Press a field and write. On a busy machine, a window that was just opened loses the first text."""
    for _ in range(PATIENCE_MS // 100):
        field.click()
        field.fill(value)
        if field.input_value() == value:
            return
        field.page.wait_for_timeout(100)
    raise AssertionError(f"{field} does not keep the text.")
