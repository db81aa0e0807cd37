"""A post decided on its page: hidden, restored, returned to review, its reports dismissed, and the next one."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from messaging.models import Message, Report
from tests.admin.pages import page as path_of
from tests.desk.browser.using import PENDING, confirm, expect_message, open_page, press, press_button
from tests.factories import MessageFactory, PersonFactory

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_post_is_hidden_restored_and_returned_to_review_on_its_page(page: Page) -> None:
    post = MessageFactory(content="Harbour news.")

    def status() -> str:
        return str(Message.objects.get(pk=post.pk).status)

    open_page(page, post)
    hide = page.get_by_role("button", name="Hide", exact=True)
    expect(hide).to_be_in_viewport()
    page.get_by_label("Reason").fill("Off topic.")
    press(hide)
    expect_message(page, "hidden")
    assert status() == "hidden"
    press_button(page, "Restore")
    expect_message(page, "restored")
    assert status() == "published"
    confirm(page, "Return to review")
    expect_message(page, "returned to review")
    assert status() == "pending"


def test_the_page_of_a_pending_post_leads_to_the_next_one(page: Page) -> None:
    first, second = (MessageFactory(status="pending", content=content) for content in ("First words", "Second words"))
    open_page(page, Message, "changelist", PENDING)
    press(page.get_by_role("link", name="First words"))
    expect(page.get_by_role("button", name="Approve")).to_be_in_viewport()
    press(page.get_by_role("link", name="Next pending →"))
    page.wait_for_url(f"**{path_of(second)}**")
    press_button(page, "Approve")
    expect_message(page, "approved")
    expect(page.locator(".field-text")).to_contain_text("First words")
    assert [Message.objects.get(pk=one.pk).status for one in (first, second)] == ["pending", "published"]


def test_reports_are_dismissed_on_the_page_of_the_post_and_opened_again(page: Page) -> None:
    post = MessageFactory(content="Harbour news.")
    Report.objects.create(message=post, reporter=PersonFactory(), reason="spam", note="Again.")
    page.goto("/admin/")
    press(page.get_by_role("link", name="reported posts"))
    press(page.get_by_role("link", name="Harbour news."))
    expect(page.get_by_role("cell", name="Again.")).to_be_visible()
    press_button(page, "Dismiss reports")
    expect_message(page, "reports dismissed")
    assert Report.objects.filter(closed_at=None).count() == 0
    confirm(page, "Undo the dismissal of reports")
    expect_message(page, "reports are open again")
    assert Report.objects.filter(closed_at=None).count() == 1
