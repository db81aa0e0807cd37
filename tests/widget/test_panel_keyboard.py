"""Keys and presses in the panel, with little height too, and what its notices say and cover."""

from __future__ import annotations

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from embeds.widget.locales import words
from messaging.models import Account
from tests.widget.live import Live, open_panel, panel_frame, wait_until_drawn

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Escape that cancels a word which an input method composes.
COMPOSED = "{ key: 'Escape', isComposing: true, bubbles: true }"
TO_END = "document.getElementById('scroll').scrollTop = 1e6"
HEAR = "addEventListener('message', ({ data }) => { window.heard ??= data; })"
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
LINES = "\n".join(f"Line {n}" for n in range(12))


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


def press(page: Page, button: Locator) -> None:
    """Press and release at one place, as a person does: after the focus has moved and the page is drawn again."""
    button.scroll_into_view_if_needed()
    place = box(button)
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    page.mouse.down()
    panel_frame(page).evaluate(DRAWN)
    # As long as a press of a person.
    page.wait_for_timeout(150)
    page.mouse.up()


def reach(*controls: Locator) -> None:
    """Scroll to each control; nothing may cover it."""
    for control in controls:
        control.click(trial=True)


def last_reply_button(panel: FrameLocator) -> Locator:
    return panel.locator("article").last.get_by_role("button", name="Reply")


def open_by_key(live: Live) -> tuple[Page, FrameLocator]:
    page = live.context.new_page()
    page.goto(live.url)
    page.locator("community-embed .trigger").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    panel = page.frame_locator("iframe")
    panel.locator(".thread[aria-busy=false]").wait_for()
    wait_until_drawn(page, panel.locator("h1"))
    page.wait_for_function("document.activeElement.shadowRoot?.activeElement?.tagName === 'IFRAME'")
    return page, panel


def tab_to(page: Page, name: str) -> None:
    """Press Tab until a button of this name has the focus."""
    for _ in range(30):
        if page.frames[-1].evaluate("document.activeElement?.textContent") == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {name}.")


def test_keyboard_suffices_to_react_and_reply_and_the_composer_is_two_keys_away(live: Live, ada: Account) -> None:
    post = live.message(content="Reach me")
    live.signed_in(ada)
    page, panel = open_by_key(live)
    page.keyboard.press("Tab")
    expect(panel.locator("#skip")).to_be_focused()
    expect(panel.locator("#skip")).to_be_visible()
    page.keyboard.press("Enter")
    expect(panel.get_by_label("Write a post…")).to_be_focused()
    panel.locator("#skip").focus()
    tab_to(page, "React")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")  # the row of emoji, not the panel
    expect(panel.locator(".choice")).to_be_hidden()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(panel.locator(".chip")).to_have_text("❤️1")
    tab_to(page, "Reply")
    page.keyboard.press("Enter")
    page.keyboard.type("By keys")
    page.keyboard.press("Control+Enter")
    expect(panel.locator("article.reply")).to_contain_text("By keys")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    post.refresh_from_db()
    assert (post.reply_count, post.reaction_total) == (1, 1)


def test_escape_or_cancel_closes_the_reply_box_whose_text_stays_and_escape_then_the_panel(live: Live) -> None:
    live.message(content="Root")
    page, panel = live.open()
    reply, area = panel.locator("article .actions").get_by_role("button", name="Reply"), panel.get_by_label("Reply to")
    dialog = page.locator("community-embed dialog")
    reply.click()
    area.fill("Half a thought")
    page.keyboard.press("Escape")
    expect(area).to_have_count(0)
    expect(reply).to_be_focused()
    expect(dialog).to_be_visible()
    reply.click()
    expect(area).to_have_value("Half a thought")
    panel.get_by_role("button", name="Cancel").click()
    expect(area).to_have_count(0)
    reply.click()
    expect(area).to_have_value("Half a thought")
    page.keyboard.press("Escape")
    composer = panel.get_by_label("Write a post…")
    page.evaluate(HEAR)
    composer.evaluate(f"area => area.dispatchEvent(new KeyboardEvent('keydown', {COMPOSED}))")
    # The first message is not one that would close the panel.
    panel_frame(page).evaluate("origin => parent.postMessage('later', origin)", live.host)
    page.wait_for_function("window.heard === 'later'")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_focus_stays_on_the_button_for_more_posts_until_they_are_loaded(live: Live) -> None:
    live.messages(21)
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


def test_notice_says_what_happened_covers_nothing_and_ends(live: Live, ada: Account) -> None:
    live.context.clock.install()
    for message in live.messages(12):
        live.reaction(message, "👍")
    live.signed_in(ada)
    page = live.open_alone()
    toast, chip, account = page.locator("#toast"), page.locator(".chip").first, page.locator("#account span")
    before = box(page.locator("#scroll"))
    chip.click()
    expect(toast).to_have_text("You reacted with 👍")
    expect(account).to_be_hidden()
    assert box(page.locator("#scroll")) == before
    shown = box(toast)
    for other in (page.locator("#scroll"), page.locator("#write form"), page.get_by_role("button", name="Sign out")):
        assert not overlap(shown, box(other))
    expect(toast.locator("..")).to_have_css("position", "static")
    chip.click()
    expect(toast).to_have_text("You removed 👍")
    page.clock.fast_forward(8_000)
    expect(account).to_have_text("Signed in as Ada Lovelace")


def test_a_press_is_not_lost_while_the_composer_or_a_reply_box_folds(live: Live, ada: Account) -> None:
    """Nothing moves between press and release: at the end of the thread, and below an empty reply box."""
    live.messages(12)
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
    page.keyboard.press("Escape")
    panel.locator("article").nth(10).get_by_role("button", name="Reply").click()
    expect(panel.get_by_label("Reply to")).to_be_focused()
    press(page, last_reply_button(panel))
    expect(panel.locator("article").last.get_by_label("Reply to")).to_be_focused()


# A window of 420 pixels: as it is, and at a zoom of 200 %.
@pytest.mark.parametrize(("width", "height"), [(844, 420), (422, 210)])
def test_every_control_is_reachable_with_little_height(live: Live, ada: Account, width: int, height: int) -> None:
    live.messages(5)
    live.signed_in(ada)
    page = live.context.new_page()
    page.set_viewport_size({"width": width, "height": height})
    page.goto(live.url)
    panel = open_panel(page)
    last, sign_out = panel.locator("article").last, panel.get_by_role("button", name="Sign out")
    composer = panel.get_by_label("Write a post…")
    close = page.get_by_role("button", name="Close")
    reach(panel.get_by_label("Show posts by"), sign_out, composer, close, *last.get_by_role("button").all())
    composer.fill(LINES)
    reach(panel.locator("#write").get_by_role("button", name="Post"), sign_out, last_reply_button(panel))
    last_reply_button(panel).click()
    panel.get_by_label("Reply to").fill(LINES)
    reach(panel.get_by_role("button", name="Cancel"), last.locator("form").get_by_role("button", name="Reply"))
    expect(panel.locator("#write")).to_be_in_viewport()
