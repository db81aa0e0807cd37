"""Reactions in the panel: set, remove, and press again before the response.

The picker of all emoji is loaded when it is opened, searched in the language of the reader, and used by keys.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from embeds.widget.locales import words
from messaging.models import Account, Message
from reactions.models import Reaction
from tests import axe
from tests.api import Api
from tests.widget.clock import poll_until
from tests.widget.live import Live

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TYPE_AND_PRESS = """(field, text) => {
  field.value = text;
  field.dispatchEvent(new Event("input"));
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true, cancelable: true }));
}"""


@pytest.fixture
def post(live: Live, ada: Account) -> Message:
    """A post with a reaction of another person; Ada is signed in."""
    post = live.message()
    live.reaction(post, "🎉")
    live.signed_in(ada)
    return post


def chip_of(page: Page, emoji: str = "🎉") -> Locator:
    return page.locator(".chip", has_text=emoji)


def expect_pressed(chip: Locator, pressed: bool) -> None:
    expect(chip).to_have_attribute("aria-pressed", "true" if pressed else "false")


def test_late_list_of_reactions_undoes_no_press_and_a_second_press_before_the_response_is_ignored(
    live: Live, post: Message, ada: Account
) -> None:
    """No press waits for the list."""
    page = live.open_alone()
    chip = chip_of(page)
    lists = live.intercept("/v1/reactions/*")
    chip.click()
    expect_pressed(chip, True)
    route = live.wait_for_first(lists)
    live.context.unroute(f"{live.app}/v1/reactions/*")
    response = route.fetch()
    chip.click()
    expect_pressed(chip, False)
    with page.expect_event("requestfinished", lambda request: request == route.request):
        route.fulfill(response=response)
    expect(chip).to_have_text("🎉1")
    assert Reaction.objects.count() == 1

    sent = live.intercept("/v1/reactions")
    chip.focus()
    chip.press("Enter")
    expect(chip).to_have_attribute("aria-disabled", "true")
    chip.dispatch_event("click")
    live.wait_for_first(sent).fallback()
    expect(chip).to_have_text("🎉2")
    expect(chip).to_have_attribute("aria-disabled", "false")
    expect(chip).to_be_focused()
    assert len(sent) == 1
    assert Reaction.objects.filter(account=ada, message=post).exists()


def test_list_of_reactions_that_arrives_after_a_choice_leaves_it(live: Live, post: Message, ada: Account) -> None:
    page = live.open_alone()
    chip = chip_of(page)
    lists = live.intercept("/v1/reactions/*")
    page.get_by_role("button", name="React").click()
    route = live.wait_for_first(lists)
    response = route.fetch()
    page.locator(".choice").get_by_role("button", name="🎉").click()
    expect_pressed(chip, True)
    with page.expect_event("requestfinished", lambda request: request == route.request):
        route.fulfill(response=response)
    page.get_by_role("button", name="React").click()
    expect(chip).to_have_text("🎉2")
    assert Reaction.objects.get(account=ada).message == post


def lose_one_response(live: Live) -> None:
    """The service executes the next press, and the browser gets no response."""

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    live.context.route(f"{live.app}/v1/reactions", lose, times=1)


def test_removal_whose_response_is_lost_is_confirmed_by_the_next_press(live: Live, post: Message, ada: Account) -> None:
    own = Reaction.objects.filter(account=ada, message=post)
    page = live.open_alone()
    chip, toast = chip_of(page), page.locator("#toast")
    chip.click()
    expect_pressed(chip, True)
    lose_one_response(live)
    chip.click()
    expect(toast).to_have_text(words("en")["error"]["network"])
    expect(chip).to_have_attribute("aria-disabled", "false")
    assert not own.exists()
    chip.click()
    expect_pressed(chip, False)
    expect(toast).to_have_text(words("en")["panel"]["unreacted"].replace("{emoji}", "🎉"))
    assert not own.exists()
    chip.click()
    expect_pressed(chip, True)
    assert own.exists()
    # The reaction of the other person.
    assert Reaction.objects.count() == 2


def test_press_after_lost_responses_sets_the_emoji_pressed_last_or_removes_one_set_again_elsewhere(
    live: Live, post: Message, ada: Account
) -> None:
    live.reaction(post, "👍")
    live.context.clock.install()
    page = live.open_alone()
    page.locator(".thread[data-live=poll]").wait_for()
    party, thumb = chip_of(page), chip_of(page, "👍")
    for chip, text in ((party, "🎉2"), (thumb, "👍2")):
        lose_one_response(live)
        chip.click()
        expect(chip).to_have_text(text)
        expect(chip).to_have_attribute("aria-disabled", "false")
    party.click()
    expect_pressed(party, True)
    assert Reaction.objects.get(account=ada).emoji == "🎉"

    lose_one_response(live)
    party.click()
    expect(party).to_have_text("🎉1")
    reaction = {"messageId": str(post.pk), "emoji": "🎉", "toggle": False}
    assert Api.as_person(ada).post("/v1/reactions", reaction).status == 200
    poll_until(page, page.locator(".chip", has_text="🎉2"))
    party.click()
    expect_pressed(party, False)
    assert not Reaction.objects.filter(account=ada).exists()
    assert Reaction.objects.count() == 2


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
    expect(page.locator(".choice")).to_be_visible()
    page.get_by_role("button", name="Reply").first.click()
    expect(page.locator(".choice")).to_be_hidden()
    expect(page.get_by_label("Reply to")).to_be_focused()
    page.get_by_role("button", name="Cancel").click()
    react.click()
    page.get_by_role("button", name="More emoji").click()
    expect(grid.get_by_role("button")).to_have_text([emoji or ""])
    field.press("Escape")
    expect(react).to_be_focused()
    expect(grid).to_be_hidden()
    assert live.errors == []


def test_picker_that_cannot_be_loaded_says_so_opens_later_in_the_readers_language_and_waits_for_texts(
    live: Live,
) -> None:
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
    # Both in one task: the search has not begun.
    field.evaluate(TYPE_AND_PRESS, "قطة سوداء")
    expect(cells).to_have_count(1)
    expect(cells).to_be_focused()
