"""The order of the posts: chosen, remembered, combined with the filter, and followed by new posts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from messaging.models import Account
from tests.factories import AgentAccountFactory
from tests.widget.clock import poll
from tests.widget.live import Live

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
START = datetime(2026, 11, 1, tzinfo=UTC)


def add_messages(live: Live, count: int, **fields: Any) -> None:
    for n in range(count):
        live.message(content=f"Post {n:02}", created_at=START + timedelta(minutes=n), **fields)


def choose(panel: FrameLocator | Page, label: str, option: str) -> None:
    panel.get_by_label(label).select_option(option)
    panel.locator(".thread[aria-busy=false]").wait_for()


def posts_of(panel: FrameLocator | Page) -> Locator:
    return panel.locator(".thread > .list > article > .body > .said")


def test_each_order_combines_with_the_filter_and_is_remembered(live: Live) -> None:
    add_messages(live, 22)
    agents = AgentAccountFactory()
    liked = live.message(content="Liked", author=agents, created_at=START + timedelta(seconds=1))
    live.message(content="By an agent", author=agents, created_at=START + timedelta(seconds=2))
    live.reaction(liked, "👍")
    page = live.open_alone()
    posts = posts_of(page)
    expect(posts.first).to_have_text("Post 21")
    choose(page, "Order", "Oldest first")
    expect(posts).to_have_count(20)
    expect(posts.first).to_have_text("Post 00")
    page.get_by_role("button", name="Show more posts").click()
    expect(posts).to_have_count(24)
    expect(posts.last).to_have_text("Post 21")
    choose(page, "Order", "Most reactions")
    expect(posts.first).to_have_text("Liked")
    page.get_by_role("button", name="Show more posts").click()
    expect(posts.last).to_have_text("Post 00")
    choose(page, "Show posts by", "Agents")
    expect(posts).to_have_text(["Liked", "By an agent"])
    page.reload()
    expect(page.get_by_label("Order")).to_have_value("reactions")
    expect(posts).to_have_count(20)
    expect(posts.first).to_have_text("Liked")
    expect(live.open_alone().get_by_label("Order")).to_have_value("reactions")
    assert not live.errors


def test_oldest_first_new_posts_follow_the_last_and_are_offered_while_it_is_not_loaded(
    live: Live, ada: Account
) -> None:
    live.context.clock.install()
    live.signed_in(ada)
    add_messages(live, 21)
    page, panel = live.follow()
    posts = posts_of(panel)
    choose(panel, "Order", "Oldest first")
    live.post("Of another")
    poll(page)
    expect(panel.get_by_role("button", name="1 new post")).to_be_visible()
    expect(posts).to_have_count(20)
    panel.get_by_label("Write a post…").fill("My own")
    panel.locator("#write").get_by_role("button", name="Post").click()
    expect(posts.first).to_have_text("My own")
    panel.get_by_role("button", name="Show more posts").click()
    expect(posts).to_have_count(23)
    expect(posts.nth(22)).to_have_text("Of another")
    live.post("At the end")
    poll(page)
    expect(posts.last).to_have_text("At the end")
    expect(posts.first).to_have_text("My own")
    choose(panel, "Order", "Oldest first")
    assert not live.errors


def test_by_reactions_nothing_moves_and_the_offer_of_new_posts_leads_to_the_newest(live: Live) -> None:
    live.context.clock.install()
    live.message(content="Second")
    first = live.message(content="First")
    live.reaction(first, "👍")
    page, panel = live.follow()
    posts = posts_of(panel)
    choose(panel, "Order", "Most reactions")
    expect(posts).to_have_text(["First", "Second"])
    for _ in range(2):
        live.reaction(live.message(content="Third"), "🎉")
    live.post("Fourth")
    poll(page)
    offer = panel.get_by_role("button", name="1 new post")
    expect(offer).to_be_visible()
    expect(posts).to_have_text(["First", "Second"])
    offer.click()
    expect(panel.get_by_label("Order")).to_have_value("newest")
    expect(posts.first).to_have_text("Fourth")
    assert not live.errors


def test_loading_the_list_again_by_reactions_offers_later_posts_only(live: Live) -> None:
    """Without changes the list is polled. Posts of the factory are in no change."""
    live.context.clock.install()
    live.context.route("**/v1/changes?*", lambda route: route.fulfill(status=503, json={"error": "internal_error"}))
    add_messages(live, 21)
    page, panel = live.follow("list")
    posts = posts_of(panel)
    choose(panel, "Order", "Most reactions")
    expect(posts.last).to_have_text("Post 01")
    live.reaction(live.article.messages.get(content="Post 00"), "🎉")
    live.message(content="New", created_at=START + timedelta(days=1))
    poll(page)
    expect(panel.get_by_role("button", name="1 new post")).to_be_visible()
    expect(posts).to_have_count(20)
    choose(panel, "Order", "Oldest first")
    live.message(content="Newer", created_at=START + timedelta(days=2))
    panel.get_by_role("button", name="Show more posts").click()
    expect(posts.last).to_have_text("Newer")
    poll(page)
    expect(posts).to_have_count(23)
    assert not live.errors
