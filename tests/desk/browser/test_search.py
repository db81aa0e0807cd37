"""The search of everything and the count in the title, from any page and at both widths."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from messaging.models import Message
from tests.admin.pages import page as path_of
from tests.agents.factories import RequestFactory
from tests.desk.browser.using import check_width, open_page, press
from tests.factories import MessageFactory, PersonFactory

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_person_is_found_by_the_key_or_by_the_box(page: Page) -> None:
    person = PersonFactory(handle="heron_watcher")
    box = page.get_by_role("searchbox", name="Search everything")
    for begin in (lambda: page.keyboard.press("/"), lambda: press(box)):
        open_page(page, Message, "changelist")
        begin()
        expect(box).to_be_focused()
        page.keyboard.type("heron")
        page.keyboard.press("Enter")
        found = page.get_by_role("link", name="@heron_watcher")
        expect(found).to_be_visible()
        check_width(page)
        press(found)
        page.wait_for_url(f"**{path_of(person)}")


def test_the_title_counts_what_waits(page: Page) -> None:
    page.goto("/admin/search/")
    expect(page).to_have_title("Search | Community Messaging")
    RequestFactory()
    MessageFactory(status="pending")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page).to_have_title("(2) Search | Community Messaging")
