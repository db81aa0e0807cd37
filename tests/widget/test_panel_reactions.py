"""Reactions in the panel: set, remove, and press again before the response."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from messaging.models import Account
from reactions.models import Reaction
from tests.widget.live import Live, panel_frame

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def chip(live: Live, ada: Account) -> Locator:
    """The chip of a reaction of another person, in the panel of Ada, who is signed in."""
    live.reaction(live.message(), "🎉")
    live.signed_in(ada)
    _, panel = live.open()
    return panel.locator(".chip")


def test_reaction_can_be_removed_before_the_list_of_reactions_is_loaded(live: Live, chip: Locator) -> None:
    """No press waits for the list, and a late list does not undo a later press."""
    late = live.intercept("/v1/reactions/*")
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    route = live.wait_for_first(late)
    response = route.fetch()
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "false")
    route.fulfill(response=response)
    panel_frame(live.context.pages[0]).wait_for_timeout(100)
    expect(chip).to_have_text("🎉1")
    assert Reaction.objects.count() == 1


def test_late_list_of_reactions_undoes_no_press(live: Live, chip: Locator) -> None:
    late = live.intercept("/v1/reactions/*")
    panel = live.context.pages[0].frame_locator("iframe")
    panel.get_by_role("button", name="React").click()
    route = live.wait_for_first(late)
    response = route.fetch()
    panel.locator(".choice").get_by_role("button", name="🎉").click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    route.fulfill(response=response)
    panel_frame(live.context.pages[0]).wait_for_timeout(100)
    expect(chip).to_have_text("🎉2")


def test_second_press_before_the_response_is_ignored(live: Live, chip: Locator) -> None:
    sent = live.intercept("/v1/reactions")
    chip.click()
    expect(chip).to_have_attribute("aria-disabled", "true")
    chip.dispatch_event("click")
    live.wait_for_first(sent).fallback()
    expect(chip).to_have_text("🎉2")
    expect(chip).to_have_attribute("aria-disabled", "false")
    assert len(sent) == 1


def test_chip_has_focus_after_its_count_changes(live: Live, chip: Locator) -> None:
    chip.focus()
    chip.press("Enter")
    expect(chip).to_have_text("🎉2")
    expect(chip).to_be_focused()
