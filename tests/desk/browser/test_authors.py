"""From a post in the queue to its author: banned, suspended, all posts hidden; and each of them undone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from messaging.models import Account, Ban, Message
from tests.desk.browser.using import PENDING, confirm, expect_message, open_page, press
from tests.factories import CommunityFactory, MessageFactory, PersonFactory

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def open_context(page: Page) -> None:
    """Of the only post in the queue."""
    open_page(page, Message, "changelist", PENDING)
    press(page.locator("summary", has_text="Text and context"))
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
