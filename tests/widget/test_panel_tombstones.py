"""Edited and deleted posts in an open panel."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from embeds.widget.locales import words
from messaging.models import Message
from tests.api import Api
from tests.widget.clock import poll
from tests.widget.live import Live
from tests.widget.test_panel_actions import post_of

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
DELETED = words("en")["panel"]["deleted"]


def delete(message: Message) -> None:
    assert Api.as_person(message.author).delete(f"/api/messages/{message.pk}").status == 200


def test_posts_are_edited_and_deleted_in_their_places_below_a_reply_that_is_being_written(live: Live) -> None:
    live.context.clock.install()
    edited, alone = live.message(content="Before"), live.message(content="Deleted alone")
    answered, writing = live.message(content="Secret"), live.message(content="Another secret")
    replies = [live.message(content="An answer", parent=each) for each in (answered, writing)]
    live.message(content="Newer")
    page, panel = live.follow()
    tombstones = [post_of(panel, each) for each in (answered, writing)]
    tombstones[1].get_by_role("button", name="Reply").first.click()
    page.keyboard.type("Half a sen")
    page.keyboard.press("ArrowLeft")
    assert Api.as_person(edited.author).put(f"/api/messages/{edited.pk}", {"content": "After"}).status == 200
    for message in (alone, answered, writing):
        delete(message)
    poll(page)
    for tombstone in tombstones:
        expect(tombstone.locator("> header .name")).to_have_text(DELETED)
    expect(tombstones[0].locator("> .body button")).to_have_count(0)
    expect(tombstones[1].locator("textarea")).to_be_focused()
    page.keyboard.type("X")
    expect(tombstones[1].locator("textarea")).to_have_value("Half a seXn")
    for reply in replies:
        expect(post_of(panel, reply).locator(".content")).to_have_text("An answer")
    expect(panel.locator(".thread > .list > article > .body > .said .content")).to_contain_text(["Newer", "After"])
    expect(post_of(panel, alone)).to_have_count(0)
    expect(panel.locator(".news")).to_be_hidden()
    expect(panel.get_by_text("secret")).to_have_count(0)
    expect(panel.get_by_text(f"@{answered.author.handle}", exact=True)).to_have_count(0)
    assert live.errors == []


def test_tombstones_are_shown_when_the_panel_opens_and_what_is_below_them_can_be_opened(live: Live) -> None:
    message, root = live.message(content="Secret"), live.message(content="A post")
    live.message(content="An answer", parent=message)
    quote = live.message(content="A quote", quote=message)
    reply = live.message(content="Secret reply", parent=root)
    last = live.message(content="Another answer", parent=reply)
    delete(message)
    delete(reply)
    _, panel = live.open()
    expect(post_of(panel, message).locator("> header .name")).to_have_text(DELETED)
    expect(post_of(panel, quote).locator(".gone")).to_have_text(words("en")["panel"]["quote_gone"])
    post_of(panel, root).locator("button.more").click()
    expect(post_of(panel, reply).locator("> header .name")).to_have_text(DELETED)
    expect(post_of(panel, last).locator(".content")).to_have_text("Another answer")
    assert live.errors == []
