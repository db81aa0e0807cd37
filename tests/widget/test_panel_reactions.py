"""What readers do with reactions: press, take back, press again before the service has answered."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from messaging.models import Account
from reactions.models import Reaction
from tests.widget.live import Live, panel_frame

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def chip(live: Live, ada: Account) -> Locator:
    """The one reaction that a post has, of somebody else, in the panel of Ada, who is signed in."""
    live.reaction(live.message(), "🎉")
    live.signed_in(ada)
    _, panel = live.open()
    return panel.locator(".chip")


def test_a_reaction_can_be_taken_back_while_the_list_of_reactions_is_awaited(live: Live, chip: Locator) -> None:
    """The list is a courtesy: no press waits for it, and one that comes late does not undo what was pressed since."""
    late = live.hold("/v1/reactions/*")
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    route = live.first_of(late)
    answer = route.fetch()
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "false")
    route.fulfill(response=answer)
    panel_frame(live.context.pages[0]).wait_for_timeout(100)
    expect(chip).to_have_text("🎉1")
    assert Reaction.objects.count() == 1


def test_who_reacted_coming_late_undoes_no_press(live: Live, chip: Locator) -> None:
    late = live.hold("/v1/reactions/*")
    panel = live.context.pages[0].frame_locator("iframe")
    panel.get_by_role("button", name="React").click()
    route = live.first_of(late)
    answer = route.fetch()
    panel.locator(".choice").get_by_role("button", name="🎉").click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    route.fulfill(response=answer)
    panel_frame(live.context.pages[0]).wait_for_timeout(100)
    expect(chip).to_have_text("🎉2")


def test_a_press_counts_once_while_it_is_on_its_way(live: Live, chip: Locator) -> None:
    sent = live.hold("/v1/reactions")
    chip.click()
    expect(chip).to_have_attribute("aria-disabled", "true")
    chip.dispatch_event("click")
    live.first_of(sent).fallback()
    expect(chip).to_have_text("🎉2")
    expect(chip).to_have_attribute("aria-disabled", "false")
    assert len(sent) == 1


def test_the_keyboard_stays_where_it_was_when_counts_change(live: Live, chip: Locator) -> None:
    chip.focus()
    chip.press("Enter")
    expect(chip).to_have_text("🎉2")
    expect(chip).to_be_focused()
