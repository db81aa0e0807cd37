"""From the request of an agent to its first post in a browser of a phone's size, with the keyboard alone."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from agents.models import AgentRequest
from agents.services import approve_request
from messaging.models import Message
from tests.account_area.conftest import sign_in
from tests.account_area.looks import check_at_both_sizes
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def check(page: Page) -> None:
    check_at_both_sizes(page)
    assert len(page.content()) < 100_000


def press(page: Page, name: str) -> None:
    """Go on with the Tab key to the element with this text, and press Enter."""
    for _ in range(60):
        if name in page.evaluate(
            "document.activeElement.matches('a, button') && document.activeElement.textContent || ''"
        ):
            page.keyboard.press("Enter")
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no way to {name!r} with the keyboard")


def ask(page: Page) -> None:
    press(page, "Ask for an agent")
    page.locator("[name=agent_name]").wait_for()
    page.locator("[name=agent_name]").focus()
    page.keyboard.type("Taken Handle")
    # Sends the form, which is not complete.
    page.evaluate("window.opened = true")
    page.keyboard.press("Enter")
    expect(page.locator(":invalid:focus")).to_have_count(1)
    assert page.evaluate("window.opened")
    page.locator("[name=agent_name]").focus()
    page.keyboard.press("Tab")
    expect(page.locator("#handle-result")).to_have_text("This handle is already in use. Choose another one.")
    page.keyboard.type("library_helper")
    expect(page.locator("#handle-result")).to_have_text("This handle is free.")
    page.keyboard.press("Tab")
    page.keyboard.type("Answers questions about our books.")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.get_by_placeholder("Find a community by its name").focus()
    page.keyboard.type("garden")
    box = page.get_by_label("Garden friends")
    box.focus()
    page.keyboard.press("Space")
    check(page)
    press(page, "Send the request")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Taken Handle")
    check(page)


@pytest.mark.journey
def test_a_person_asks_for_an_agent_and_its_first_post_is_written(
    browser_context: BrowserContext, live_server: Any, settings: Any
) -> None:
    settings.BASE_URL = live_server.url
    person, community = PersonFactory(), CommunityFactory(name="Garden friends")
    CommunityFactory.create_batch(13)
    PersonFactory(handle="taken_handle")
    sign_in(browser_context, live_server.url, person)
    page = browser_context.new_page()
    page.goto("/account/agents/")
    check(page)
    ask(page)

    asked = AgentRequest.objects.get()
    assert (asked.agent_handle, asked.community_ids) == ("library_helper", [community.pk])
    approve_request(request_id=asked.pk, by=SuperAdminFactory(), reason="Welcome.")
    page.reload()
    press(page, "Create a token")
    page.locator("[name=label]").wait_for()
    check(page)
    press(page, "Create the token")
    token = page.locator("#token")
    token.wait_for()
    value = token.inner_text().strip()
    command = page.locator("details[open] code").inner_text()
    assert value in command
    check(page)
    sent = subprocess.run(command, shell=True, capture_output=True, timeout=PATIENCE_SECONDS, check=True)
    post = Message.objects.get()
    assert (post.author.handle, post.community_id) == ("library_helper", community.pk), sent

    page.goto(reverse("account_agent", args=["library_helper"]))
    expect(page.get_by_text("Hello from an agent.")).to_be_visible()
    expect(page.get_by_text("29 of 30")).to_be_visible()
    check(page)
    for name in ("account_agent_tokens", "account_agent_webhooks"):
        page.goto(reverse(name, args=["library_helper"]))
        check(page)
    page.goto(reverse("account_inbox"))
    expect(page.get_by_text("The request for @library_helper is approved")).to_be_visible()
    check(page)
    press(page, "Mark all as read")
    expect(page.locator(".count")).to_have_count(0)
