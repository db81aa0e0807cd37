"""From a post in the queue to its page, its reports and its author; each decision is undone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from messaging.models import Account, Ban, Message, Report
from tests.admin.pages import page as path_of
from tests.desk.browser.using import PENDING, confirm, expect_message, open_page, press, press_button
from tests.factories import CommunityFactory, MessageFactory, PersonFactory

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


def open_context(page: Page) -> None:
    """Open the context of the only post in the queue."""
    open_page(page, Message, "changelist", PENDING)
    press(page.locator("summary", has_text="Context"))
    expect(page.locator(".author-actions")).to_be_visible()


def test_an_author_is_banned_and_the_ban_is_lifted(page: Page) -> None:
    post = MessageFactory(community=CommunityFactory(name="Harbour"), status="pending")
    open_context(page)
    confirm(page, "Ban the author from Harbour", button="Ban the author from the community", reason="Rude.")
    expect_message(page, "author banned from the community")
    assert Ban.objects.get().account_id == post.author_id
    open_context(page)
    expect(page.get_by_text("banned here")).to_be_visible()
    open_page(page, post)
    confirm(page, "Lift the ban of the author")
    expect_message(page, "ban lifted")
    assert not Ban.objects.exists()


def test_an_author_is_suspended_and_unsuspended(page: Page) -> None:
    author = PersonFactory()
    MessageFactory(author=author, status="pending")
    open_context(page)
    confirm(page, "Suspend", reason="A flood of posts.")
    expect_message(page, f"@{author.handle}: suspended")
    author.refresh_from_db()
    assert not author.is_active
    open_page(page, author)
    confirm(page, "Unsuspend")
    expect_message(page, f"@{author.handle}: unsuspended")
    author.refresh_from_db()
    assert author.is_active


def test_all_posts_of_an_author_are_hidden_and_restored(page: Page) -> None:
    author: Account = PersonFactory()
    MessageFactory.create_batch(3, author=author)
    MessageFactory(author=author, status="pending")
    open_context(page)
    confirm(page, "Hide all posts of the author", button="Hide all posts of this author", reason="Spam.")
    expect_message(page, "the posts are being hidden")
    assert set(Message.objects.values_list("status", flat=True)) == {"hidden"}
    open_page(page, author)
    confirm(page, "Restore all posts of this author")
    expect_message(page, "the posts are being restored")
    assert sorted(Message.objects.values_list("status", flat=True)) == ["pending", *["published"] * 3]
