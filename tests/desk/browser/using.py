"""What the tests of the desk do in a browser."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connections
from django.db.models import Model
from playwright.sync_api import Locator, Page, expect

from tests.admin.pages import page as path_of

PHONE, WIDE = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
PENDING = "?status__exact=pending"
# A list is a box that may be scrolled.
OUTSIDE = """
[...document.querySelectorAll(".module:not(#changelist), .decision-bar")].flatMap(box => {
    const { left, right } = box.getBoundingClientRect();
    return [...box.querySelectorAll("input, select, textarea, button, a")].filter(one => {
        const edges = one.getBoundingClientRect();
        return edges.width && (edges.left < left || edges.right > right);
    }).map(one => one.outerHTML.slice(0, 200));
})
"""


def open_page(page: Page, row: Model | type[Model], name: str = "change", query: str = "") -> None:
    """Open a page of a row or a list; it must fit both widths."""
    page.goto(path_of(row, name) + query)
    check_width(page)


def check_width(page: Page) -> None:
    """At both widths: nothing to scroll sideways, and each field, button and link lies in its box."""
    size = page.viewport_size
    for each in (WIDE if size == PHONE else PHONE, size):
        page.set_viewport_size(each)  # type: ignore[arg-type]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (page.url, each)
        outside = page.evaluate(OUTSIDE)
        assert not outside, (page.url, each, outside)


def press(target: Locator) -> None:
    """Use a finger on a phone, and the mouse elsewhere."""
    if target.page.viewport_size == PHONE:
        target.tap()
    else:
        target.click()


def press_button(page: Page, name: str) -> None:
    press(page.get_by_role("button", name=name, exact=True))


def confirm(page: Page, link: str, *, button: str = "", reason: str = "") -> None:
    """Follow a link with an ellipsis, fill in its form, and send it."""
    press(page.get_by_role("link", name=f"{link}…", exact=True))
    send_form(page, button or link, reason=reason)


def send_form(page: Page, button: str, *, reason: str = "") -> None:
    # A tap does not wait for the page that it leads to.
    expect(page.get_by_role("button", name=button, exact=True)).to_be_visible()
    if reason:
        page.get_by_label("Reason").fill(reason)
    check_width(page)
    press_button(page, button)


def expect_message(page: Page, text: str) -> None:
    expect(page.locator(".messagelist")).to_contain_text(text)
    check_width(page)


def expect_finished(page: Page, progress: str) -> None:
    """The page of a job is loaded again by itself when the job is finished."""
    expect(page.locator("#job:not([data-running])")).to_be_visible()
    expect(page.get_by_text(progress)).to_be_visible()
    check_width(page)


def as_worker(run: Callable[[], Any]) -> Any:
    """Run it in a thread of its own, like another process: Playwright's event loop runs in that of the test."""

    def run_and_close() -> Any:
        try:
            return run()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run_and_close).result()
