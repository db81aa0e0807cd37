"""Reactions in the panel: set, remove, and press again before the response."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Route, expect

from embeds.widget.locales import words
from messaging.models import Account
from reactions.models import Reaction
from tests.api import Api
from tests.widget.clock import poll_until
from tests.widget.live import Live, panel_frame

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


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


def lose_one_response(live: Live) -> None:
    """The service executes the next press, and the browser gets no response."""

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    live.context.route(f"{live.app}/v1/reactions", lose, times=1)


def test_removal_whose_response_is_lost_is_confirmed_by_the_next_press(live: Live, chip: Locator, ada: Account) -> None:
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    lose_one_response(live)
    chip.click()
    toast = live.context.pages[0].frame_locator("iframe").locator("#toast")
    expect(toast).to_have_text(words("en")["error"]["network"])
    expect(chip).to_have_attribute("aria-disabled", "false")
    assert not Reaction.objects.filter(account=ada).exists()
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "false")
    expect(toast).to_have_text(words("en")["panel"]["unreacted"].replace("{emoji}", "🎉"))
    assert not Reaction.objects.filter(account=ada).exists()
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    assert Reaction.objects.filter(account=ada).exists()


def test_press_after_two_lost_responses_sets_the_emoji_that_was_pressed_last(live: Live, ada: Account) -> None:
    post = live.message()
    live.reaction(post, "🎉")
    live.reaction(post, "👍")
    live.signed_in(ada)
    _, panel = live.open()
    party, thumb = (panel.locator(".chip", has_text=emoji) for emoji in ("🎉", "👍"))
    for chip in (party, thumb):
        lose_one_response(live)
        chip.click()
        expect(chip).to_have_text("🎉2" if chip is party else "👍2")
        expect(chip).to_have_attribute("aria-disabled", "false")
    party.click()
    expect(party).to_have_attribute("aria-pressed", "true")
    assert Reaction.objects.get(account=ada).emoji == "🎉"


def test_press_after_a_lost_response_removes_a_reaction_that_was_set_again_elsewhere(live: Live, ada: Account) -> None:
    post = live.message()
    reaction = {"messageId": str(post.pk), "emoji": "🎉", "toggle": False}
    live.reaction(post, "🎉")
    live.signed_in(ada)
    live.context.clock.install()
    page, panel = live.follow()
    chip = panel.locator(".chip")
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    lose_one_response(live)
    chip.click()
    expect(chip).to_have_text("🎉1")
    assert Api.as_person(ada).post("/v1/reactions", reaction).status == 200
    poll_until(page, panel.locator(".chip", has_text="🎉2"))
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "false")
    assert not Reaction.objects.filter(account=ada).exists()
