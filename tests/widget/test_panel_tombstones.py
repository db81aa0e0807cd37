"""Edited and deleted posts in an open panel."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from embeds.widget.locales import words
from messaging.models import Message
from tests.api import Api
from tests.widget.clock import poll
from tests.widget.live import Live

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
DELETED = words("en")["panel"]["deleted"]


@pytest.fixture(autouse=True)
def _clock(live: Live) -> None:
    live.context.clock.install()


def delete(message: Message) -> None:
    assert Api.as_person(message.author).delete(f"/api/messages/{message.pk}").status == 200


def test_an_edited_post_changes_in_its_place(live: Live) -> None:
    message = live.message(content="Before")
    live.message(content="Newer")
    page, panel = live.follow()
    assert Api.as_person(message.author).put(f"/api/messages/{message.pk}", {"content": "After"}).status == 200
    poll(page)
    expect(panel.locator("article .content")).to_have_text(["Newer", "After"])
    expect(panel.locator(".news")).to_be_hidden()


def test_a_deleted_post_with_replies_becomes_a_tombstone(live: Live) -> None:
    message = live.message(content="Secret")
    reply = live.message(content="An answer", parent=message)
    page, panel = live.follow()
    delete(message)
    poll(page)
    tombstone = panel.locator(f"#community-post-{message.pk}")
    expect(tombstone.locator("> header .name")).to_have_text(DELETED)
    expect(tombstone.locator("> .body button")).to_have_count(0)
    expect(panel.locator(f"#community-post-{reply.pk} .content")).to_have_text("An answer")
    expect(panel.get_by_text("Secret")).to_have_count(0)
    expect(panel.get_by_text(f"@{message.author.handle}")).to_have_count(0)
    assert live.errors == []


def test_a_reply_being_written_below_a_deleted_post_keeps_its_text_and_the_focus(live: Live) -> None:
    message = live.message(content="Secret")
    live.message(content="An answer", parent=message)
    page, panel = live.follow()
    tombstone = panel.locator(f"#community-post-{message.pk}")
    tombstone.get_by_role("button", name="Reply").first.click()
    page.keyboard.type("Half a sen")
    page.keyboard.press("ArrowLeft")
    delete(message)
    poll(page)
    expect(tombstone.locator("> header .name")).to_have_text(DELETED)
    expect(tombstone.locator("textarea")).to_be_focused()
    page.keyboard.type("X")
    expect(tombstone.locator("textarea")).to_have_value("Half a seXn")
    expect(panel.get_by_text("Secret")).to_have_count(0)
    assert live.errors == []


def test_a_deleted_post_without_replies_disappears(live: Live) -> None:
    message = live.message(content="Secret")
    live.message(content="Another")
    page, panel = live.follow()
    delete(message)
    poll(page)
    expect(panel.locator("article .content")).to_have_text(["Another"])


def test_a_tombstone_is_shown_when_the_panel_opens(live: Live) -> None:
    message = live.message(content="Secret")
    live.message(content="An answer", parent=message)
    quote = live.message(content="A quote", quote=message)
    delete(message)
    _page, panel = live.follow()
    expect(panel.locator(f"#community-post-{message.pk} > header .name")).to_have_text(DELETED)
    expect(panel.locator(f"#community-post-{quote.pk} .gone")).to_have_text(words("en")["panel"]["quote_gone"])
    assert live.errors == []


def test_replies_below_a_deleted_reply_can_be_opened(live: Live) -> None:
    message = live.message(content="A post")
    reply = live.message(content="Secret", parent=message)
    last = live.message(content="An answer", parent=reply)
    delete(reply)
    _page, panel = live.follow()
    panel.locator("button.more").click()
    expect(panel.locator(f"#community-post-{reply.pk} > header .name")).to_have_text(DELETED)
    expect(panel.locator(f"#community-post-{last.pk} .content")).to_have_text("An answer")
    assert live.errors == []
