"""With little height, as at a zoom of 200 % or on a phone in landscape, every control can be reached and pressed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from messaging.models import Account
from tests.widget.live import Live, open_panel

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LINES = "\n".join(f"Line {n}" for n in range(12))


def reach(*controls: Locator) -> None:
    """Scroll to each control; nothing may cover it."""
    for control in controls:
        control.click(trial=True)


# A window of 420 pixels: as it is, and at a zoom of 200 %.
@pytest.mark.parametrize(("width", "height"), [(844, 420), (422, 210)])
def test_every_control_is_reachable(live: Live, ada: Account, width: int, height: int) -> None:
    for n in range(5):
        live.message(content=f"Post {n}")
    live.signed_in(ada)
    page = live.context.new_page()
    page.set_viewport_size({"width": width, "height": height})
    page.goto(live.url)
    panel = open_panel(page)
    last = panel.locator("article").last
    reach(
        panel.get_by_label("Show posts by"),
        panel.get_by_role("button", name="Sign out"),
        panel.get_by_label("Write a post…"),
        page.get_by_role("button", name="Close"),
        *last.get_by_role("button").all(),
    )
    panel.get_by_label("Write a post…").fill(LINES)
    reach(
        panel.locator("#write").get_by_role("button", name="Post"),
        panel.get_by_role("button", name="Sign out"),
        last.get_by_role("button", name="Reply"),
    )
    last.get_by_role("button", name="Reply").click()
    panel.get_by_label("Reply to").fill(LINES)
    reach(panel.get_by_role("button", name="Cancel"), last.locator("form").get_by_role("button", name="Reply"))
    expect(panel.locator("#write")).to_be_in_viewport()
