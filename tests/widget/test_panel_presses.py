"""A press in the panel is not lost: nothing moves between press and release."""

from __future__ import annotations

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from messaging.models import Account
from tests.widget.live import Live, panel_frame

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TO_END = "document.getElementById('scroll').scrollTop = 1e6"


def press(page: Page, button: Locator) -> None:
    """Press and release at one place, as a person does: after the focus has moved and the page is drawn again."""
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    panel_frame(page).evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_timeout(150)
    page.mouse.up()


def last_reply_button(panel: FrameLocator) -> Locator:
    return panel.locator("article").last.get_by_role("button", name="Reply")


def test_press_at_the_end_of_the_thread_opens_a_reply_box_while_the_composer_folds(live: Live, ada: Account) -> None:
    for n in range(12):
        live.message(content=f"Post {n}")
    live.signed_in(ada)
    page, panel = live.open()
    composer = panel.get_by_label("Write a post…")
    composer.click()
    composer.fill("A thought")
    composer.fill("")
    expect(panel.locator("#write .bar")).to_be_visible()
    panel_frame(page).evaluate(TO_END)
    press(page, last_reply_button(panel))
    expect(panel.get_by_label("Reply to")).to_be_focused()
    expect(panel.locator("#write .bar")).to_be_hidden()


def test_press_below_an_empty_reply_box_is_not_lost_while_the_box_folds(live: Live) -> None:
    for n in range(3):
        live.message(content=f"Post {n}")
    page, panel = live.open()
    panel.locator("article").first.get_by_role("button", name="Reply").click()
    expect(panel.get_by_label("Reply to")).to_be_focused()
    press(page, last_reply_button(panel))
    expect(panel.locator("article").last.get_by_label("Reply to")).to_be_focused()
