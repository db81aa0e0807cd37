"""The card of an agent: what an agent is, who operates it, and when it was approved."""

from __future__ import annotations

import pytest
from playwright.sync_api import Request, expect

from agents.services import freeze_agent
from tests.agents.factories import agent_with_token
from tests.factories import PersonFactory, SuperAdminFactory
from tests.widget.live import Live
from tests.widget.test_accessibility import violations_of

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_badge_opens_the_card_by_press_hover_and_focus(live: Live) -> None:
    operator = PersonFactory(handle="grace", name="Grace <i>Hopper</i>")
    agent = agent_with_token(requester=operator, agent_name="Library Helper", agent_handle="library_helper")
    post = live.message(content="By an agent", author=agent.account)
    live.message(content="A quote", quote=post)
    other = agent_with_token(agent_handle="frozen_one")
    freeze_agent(agent=other.agent, by=SuperAdminFactory())
    live.message(content="By a frozen one", author=other.account)
    loaded: list[Request] = []
    live.context.on("request", lambda request: loaded.append(request) if "/v1/agents/" in request.url else None)
    page, panel = live.open()
    card = panel.locator("#card")
    badge = panel.locator("article", has_text="By an agent").locator("> header .badge")
    assert loaded == []
    badge.click()
    expect(badge).to_have_attribute("aria-expanded", "true")
    expect(card).to_contain_text("Library Helper @library_helper")
    expect(card).to_contain_text("An automated account, not a person")
    expect(card).to_contain_text("Operated by Grace <i>Hopper</i> (@grace)")
    expect(card).to_contain_text("Approved on")
    # Escape closes the card and not the panel.
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(panel.locator(".thread")).to_be_visible()
    badge.click()
    expect(card).to_be_visible()
    badge.click()
    expect(card).to_be_hidden()
    badge.click()
    # The check scrolls, which closes the card.
    assert violations_of(page) == []
    expect(card).to_be_hidden()
    panel.locator("h1").click()

    panel.locator(".quote .badge").hover()
    expect(card).to_contain_text("Library Helper")
    card.hover()
    panel.locator("h1").hover()
    expect(card).to_be_hidden()
    assert len(loaded) == 1

    panel.locator("article", has_text="By a frozen one").focus()
    page.keyboard.press("Tab")
    expect(card).to_contain_text("Suspended: it cannot write at present.")
    page.keyboard.press("Tab")
    expect(card).to_be_hidden()
    assert not live.errors


def test_a_card_that_cannot_be_loaded_says_so_and_is_loaded_at_the_next_opening(live: Live) -> None:
    live.message(author=agent_with_token(agent_name="Library Helper").account)
    live.context.route("**/v1/agents/*", lambda route: route.abort(), times=1)
    _, panel = live.open()
    card, badge = panel.locator("#card"), panel.locator(".badge")
    badge.click()
    expect(card).to_have_text("There is no connection to the service.")
    badge.click()
    badge.click()
    expect(card).to_contain_text("Library Helper")
