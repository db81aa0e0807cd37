"""Keys in the panel, and what its notices say and cover."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from embeds.widget.locales import words
from messaging.models import Account
from tests.widget.live import Live, wait_until_drawn

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Escape that cancels a word which an input method composes.
COMPOSED = "{ key: 'Escape', isComposing: true, bubbles: true }"


def box(locator: Locator) -> dict[str, float]:
    found = locator.bounding_box()
    assert found
    return dict(found)


def overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    return (
        one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < other["y"] + other["height"]
        and other["y"] < one["y"] + one["height"]
    )


def test_composer_is_two_keys_from_the_opened_panel(live: Live) -> None:
    for n in range(10):
        live.message(content=f"Post {n}")
    page = live.context.new_page()
    page.goto(live.url)
    page.locator("community-embed button.trigger").focus()
    page.keyboard.press("Enter")
    panel = page.frame_locator("iframe")
    panel.locator(".thread[aria-busy=false]").wait_for()
    wait_until_drawn(page, panel.locator("h1"))
    page.wait_for_function("document.activeElement.shadowRoot?.activeElement?.tagName === 'IFRAME'")
    page.keyboard.press("Tab")
    expect(panel.locator("#skip")).to_be_focused()
    expect(panel.locator("#skip")).to_be_visible()
    page.keyboard.press("Enter")
    expect(panel.get_by_label("Write a post…")).to_be_focused()


def test_escape_closes_the_reply_box_first_and_then_the_panel(live: Live) -> None:
    live.message(content="Root")
    page, panel = live.open()
    reply = panel.locator("article").get_by_role("button", name="Reply")
    reply.click()
    panel.get_by_label("Reply to").fill("Half a thought")
    page.keyboard.press("Escape")
    expect(panel.get_by_label("Reply to")).to_have_count(0)
    expect(reply).to_be_focused()
    expect(page.locator("community-embed dialog")).to_be_visible()
    reply.click()
    expect(panel.get_by_label("Reply to")).to_have_value("Half a thought")
    page.keyboard.press("Escape")
    panel.get_by_label("Write a post…").evaluate(
        f"area => area.dispatchEvent(new KeyboardEvent('keydown', {COMPOSED}))"
    )
    page.wait_for_timeout(50)
    expect(page.locator("community-embed dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("community-embed dialog")).to_be_hidden()


def test_cancel_closes_the_reply_box_and_the_text_stays_a_draft(live: Live) -> None:
    live.message(content="Root")
    _, panel = live.open()
    reply = panel.locator("article .actions").get_by_role("button", name="Reply")
    reply.click()
    panel.get_by_label("Reply to").fill("Half a thought")
    panel.get_by_role("button", name="Cancel").click()
    expect(panel.get_by_label("Reply to")).to_have_count(0)
    reply.click()
    expect(panel.get_by_label("Reply to")).to_have_value("Half a thought")


def test_focus_stays_on_the_button_for_more_posts_until_they_are_loaded(live: Live) -> None:
    for n in range(21):
        live.message(content=f"Post {n}")
    page = live.open_alone()
    pending = live.intercept("/api/messages?*")
    more = page.get_by_role("button", name="Show more posts")
    more.focus()
    page.keyboard.press("Enter")
    route = live.wait_for_first(pending)
    expect(more).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Enter")
    route.abort()
    expect(page.locator(".notice .problem")).to_have_text(words("en")["error"]["network"])
    expect(more).to_be_focused()
    expect(more).to_have_attribute("aria-disabled", "false")
    assert len(pending) == 1
    live.context.unroute(f"{live.app}/api/messages?*")
    page.keyboard.press("Enter")
    expect(page.locator("article")).to_have_count(21)
    expect(page.locator("article").last).to_be_focused()


def test_focus_is_on_the_sign_in_button_after_signing_out(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    _, panel = live.open()
    panel.get_by_role("button", name="Sign out").press("Enter")
    expect(panel.get_by_role("button", name="Sign in")).to_be_focused()


def test_notice_says_what_happened_and_covers_nothing(live: Live, ada: Account) -> None:
    for n in range(12):
        live.reaction(live.message(content=f"Post {n}"), "👍")
    live.signed_in(ada)
    _, panel = live.open()
    toast, chip = panel.locator("#toast"), panel.locator(".chip").first
    before = box(panel.locator("#scroll"))
    chip.click()
    expect(toast).to_have_text("You reacted with 👍")
    assert box(panel.locator("#scroll")) == before
    shown = box(toast)
    for other in (panel.locator("#scroll"), panel.locator("#write form"), panel.get_by_role("button", name="Sign out")):
        assert not overlap(shown, box(other))
    expect(toast.locator("..")).to_have_css("position", "static")
    chip.click()
    expect(toast).to_have_text("You removed 👍")


def test_notice_ends_and_the_account_is_named_again(live: Live, ada: Account) -> None:
    live.reaction(live.message(), "👍")
    live.context.clock.install()
    live.signed_in(ada)
    page, panel = live.open()
    panel.locator(".chip").click()
    expect(panel.locator("#toast")).not_to_be_empty()
    expect(panel.locator("#account span")).to_be_hidden()
    page.clock.fast_forward(8_000)
    expect(panel.locator("#account span")).to_have_text("Signed in as Ada Lovelace")
