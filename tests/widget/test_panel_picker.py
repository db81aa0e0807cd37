"""The picker of all emoji: loaded when it is opened, searched in the reader's language, used by keys."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from messaging.models import Account
from reactions.models import Reaction
from tests import axe
from tests.widget.live import Live

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_picker_is_loaded_when_opened_searched_by_keys_and_shows_recent_emoji_first(live: Live, ada: Account) -> None:
    live.message()
    live.signed_in(ada)
    asked: list[str] = []
    live.context.on("request", lambda request: asked.append(request.url.removeprefix(live.app).split("?")[0]))
    page = live.open_alone()
    page.get_by_role("button", name="React").click()
    assert not {"/embed/picker.js", "/embed/emoji/en.json"} & {*asked}
    page.get_by_role("button", name="More emoji").click()
    field = page.get_by_role("searchbox", name="Search emoji")
    expect(field).to_be_focused()
    assert asked.count("/embed/picker.js") == asked.count("/embed/emoji/en.json") == 1
    assert axe.violations(page) == []
    grid = page.locator(".emoji-grid")
    expect(grid.get_by_role("button")).not_to_have_count(0)
    page.get_by_role("button", name="food & drink").click()
    expect(grid.get_by_role("button", name="grapes")).to_be_visible()
    field.fill("no such thing")
    expect(grid).to_contain_text("No emoji found")
    field.fill("light bulb")
    expect(grid.get_by_role("button")).to_have_count(1)
    field.fill("heart")
    expect(grid.get_by_role("button", name="heart suit")).to_be_visible()
    field.press("ArrowDown")
    first, second = grid.get_by_role("button").nth(0), grid.get_by_role("button").nth(1)
    expect(first).to_be_focused()
    first.press("ArrowRight")
    expect(second).to_be_focused()
    emoji = second.text_content()
    second.press("ArrowUp")
    expect(field).to_be_focused()
    second.focus()
    second.press("Enter")
    expect(page.locator(".chip")).to_have_text(f"{emoji}1")
    assert Reaction.objects.get().emoji == emoji
    react = page.get_by_role("button", name="React", exact=True)
    react.click()
    page.get_by_role("button", name="More emoji").click()
    expect(grid.get_by_role("button")).to_have_text([emoji or ""])
    field.press("Escape")
    expect(react).to_be_focused()
    expect(grid).to_be_hidden()
    assert live.errors == []


def test_picker_that_cannot_be_loaded_says_so_and_opens_later_in_the_readers_language(live: Live) -> None:
    live.message()
    pattern = f"{live.app}/embed/picker.js*"
    live.context.route(pattern, lambda route: route.abort())
    page = live.open_alone(lang="ar")
    more = page.locator(".choice > button").last
    page.locator("article .actions button").last.click()
    more.click()
    expect(page.locator("#toast p")).to_have_class("problem")
    live.context.unroute(pattern)
    more.click()
    grid = page.locator(".emoji-grid")
    field = page.get_by_role("searchbox")
    field.fill("قطة")
    field.press("ArrowDown")
    cells = grid.get_by_role("button")
    expect(cells.nth(0)).to_be_focused()
    cells.nth(0).press("ArrowLeft")
    expect(cells.nth(1)).to_be_focused()


def test_arrow_down_right_after_typing_leads_to_what_is_found(live: Live) -> None:
    live.message()
    page = live.open_alone()
    page.locator("article .actions button").last.click()
    page.locator(".choice > button").last.click()
    field = page.get_by_role("searchbox")
    # Both in one task: the search has not begun.
    field.evaluate(
        """(field) => {
            field.value = "cat";
            field.dispatchEvent(new Event("input"));
            field.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true, cancelable: true }));
        }"""
    )
    first = page.locator(".emoji-grid").get_by_role("button").first
    expect(first).to_have_attribute("title", re.compile("cat", re.IGNORECASE))
    # Longer than typing is waited for.
    page.wait_for_timeout(500)
    expect(first).to_be_focused()
