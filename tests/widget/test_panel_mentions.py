"""Mentions: `@` completes those who wrote on the page, and the mentioned agent gets an event."""

from __future__ import annotations

import pytest
from playwright.sync_api import FrameLocator, Locator, expect

from messaging.models import Account
from tests.agents.factories import agent_with_token
from tests.factories import PersonFactory
from tests.widget.live import Live
from tests.widget.test_accessibility import violations_of

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def field(panel: FrameLocator) -> Locator:
    return panel.get_by_label("Write a post…")


def test_a_completed_mention_reaches_the_inbox_of_the_agent(live: Live, ada: Account) -> None:
    agent = agent_with_token(agent_name="Library Helper", agent_handle="library_helper")
    live.message(content="Long ago", author=agent.account)
    for _ in range(20):
        live.message(content="Later", author=ada)
    live.signed_in(ada)
    _, panel = live.open()
    area, options = field(panel), panel.locator("#write [role=option]")
    area.press_sequentially("Ask @libr")
    # The agent's post is not loaded.
    expect(options).to_have_text(["Library Helper@library_helper"])
    expect(area).to_have_attribute("aria-activedescendant", "mentions-1-0")
    area.press("Enter")
    expect(area).to_have_value("Ask @library_helper ")
    expect(options).to_have_count(0)
    area.press_sequentially("please")
    panel.locator("#write").get_by_role("button", name="Post").click()
    expect(panel.locator(".mention")).to_have_text("@library_helper")
    (event,) = agent.api.get("/v1/inbox", types="mention").json["events"]
    assert event["message"]["content"] == "Ask @library_helper please"
    assert not live.errors


def test_keys_choose_and_escape_closes_the_list_alone(live: Live, ada: Account) -> None:
    for handle, name in (("ben", "Benjamin Lovelace"), ("lovis", "Lovis")):
        live.message(author=PersonFactory(handle=handle, name=name))
    live.message(content="Mail a@ben.example, @ben! @no", author=ada)
    live.signed_in(ada)
    page, panel = live.open()
    expect(panel.locator(".mention")).to_have_text(["@ben"])
    panel.get_by_role("button", name="Reply").first.click()
    area = panel.get_by_label("Reply to Ada Lovelace")
    options = panel.locator(".reply-place [role=option]")
    area.press_sequentially("مرحبا @lov")
    expect(options).to_have_text(["Lovis@lovis", "Ada Lovelace@ada", "Benjamin Lovelace@ben"])
    assert violations_of(page) == []
    area.press("Escape")
    expect(options).to_have_count(0)
    area.press("e")
    expect(area).to_be_focused()
    expect(options).to_have_count(0)
    for _ in range(5):
        area.press("Backspace")
    area.press_sequentially("@lov")
    expect(options).to_have_count(3)
    area.press("ArrowUp")
    expect(options.nth(2)).to_have_attribute("aria-selected", "true")
    area.press("Tab")
    expect(area).to_have_value("مرحبا @ben ")
    area.press_sequentially("@ada")
    expect(options).to_have_count(0)
    area.press_sequentially(" @bEnj")
    options.click()
    expect(area).to_have_value("مرحبا @ben @ada @ben ")
    expect(area).to_be_focused()
    area.dispatch_event("compositionstart")
    area.evaluate(
        "area => { area.value += '@lo'; area.dispatchEvent(new InputEvent('input', { isComposing: true })); }"
    )
    page.wait_for_timeout(50)
    expect(options).to_have_count(0)
    area.press("Escape")
    expect(area).to_have_count(0)
    expect(panel.locator(".thread")).to_be_visible()
    assert not live.errors


def test_a_list_whose_beginning_is_left_is_closed(live: Live, ada: Account) -> None:
    live.message(author=PersonFactory(handle="ben"))
    live.signed_in(ada)
    _, panel = live.open()
    area, options = field(panel), panel.locator("#write [role=option]")
    area.press_sequentially("@be")
    expect(options).to_have_count(1)
    # No key or click has moved the caret.
    area.evaluate("(area) => area.setSelectionRange(0, 0)")
    area.press("Enter")
    expect(options).to_have_count(0)
    expect(area).to_have_value("@be")
    assert not live.errors


def test_without_the_participants_those_in_the_thread_are_completed(live: Live, ada: Account) -> None:
    live.message(author=PersonFactory(handle="ben"))
    live.context.route("**/v1/presence/participants?*", lambda route: route.abort())
    live.signed_in(ada)
    _, panel = live.open()
    field(panel).press_sequentially("@be")
    expect(panel.locator("#write [role=option]")).to_contain_text(["@ben"])
