"""The order of the posts: chosen, remembered, combined with the filter, and followed by new posts; and the search in a
discussion of more than 50 posts and replies.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, Request, expect

from messaging.models import Account
from tests.factories import AgentAccountFactory
from tests.widget.clock import poll
from tests.widget.live import Live
from tests.widget.test_accessibility import violations_of_state
from tests.widget.test_panel_own import write

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
COUNTS = "/v1/presence/counts"
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
    write(panel, "My own")
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


@pytest.mark.parametrize("mode", ["poll", "list"])
def test_by_reactions_a_post_that_passes_the_last_one_is_said_to_have_changed_the_order(live: Live, mode: str) -> None:
    live.context.clock.install()
    if mode == "list":
        live.context.route("**/v1/changes?*", lambda route: route.fulfill(status=503, json={"error": "internal_error"}))
    add_messages(live, 22)
    below, last = (live.article.messages.get(content=f"Post {n:02}") for n in (0, 2))
    reply = live.message(content="A reply", parent=below)
    page, panel = live.follow(mode)
    posts, offer = posts_of(panel), panel.get_by_role("button", name="The order has changed. Show it")
    choose(panel, "Order", "Most reactions")
    expect(posts.last).to_have_text("Post 02")
    live.reaction(last, "🎉")
    live.reaction(reply, "🎉")
    poll(page)
    expect(posts.last.locator("xpath=ancestor::article").locator(".reactions")).to_contain_text("1")
    expect(offer).to_be_hidden()
    live.reaction(below, "🎉")
    live.reaction(below, "🎉")
    poll(page)
    expect(offer).to_be_visible()
    expect(posts).to_have_count(20)
    expect(posts.last).to_have_text("Post 02")
    offer.click()
    expect(posts.first).to_have_text("Post 00")
    expect(panel.get_by_label("Order")).to_have_value("reactions")
    expect(offer).to_be_hidden()
    panel.get_by_role("button", name="Show more posts").click()
    expect(posts).to_have_count(22)
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


def test_a_result_leads_to_a_post_that_is_not_loaded(live: Live, ada: Account) -> None:
    oldest = live.message(content="Oldest", created_at=START)
    answer = live.message(content="A reply", parent=oldest)
    long = "Words. " * 40
    hidden = live.message(content=f"{long}\n<b>The Lighthouse</b> keeps burning. {long}", parent=answer, author=ada)
    for n in range(50):
        live.message(content=f"Post {n}", created_at=START + timedelta(minutes=n + 1))
    counts: list[Request] = []
    live.context.on("request", lambda request: counts.append(request) if COUNTS in request.url else None)
    page = live.open_alone()
    find = page.locator("#find")
    expect(page.locator("article")).to_have_count(20)
    expect(find).to_be_hidden()
    assert counts == []
    page.locator("article").last.scroll_into_view_if_needed()
    expect(find).to_be_visible()
    assert len(counts) == 1
    find.click()
    field = page.get_by_role("searchbox")
    expect(field).to_be_focused()
    field.fill("lighthouse")
    field.press("Enter")
    results = page.locator(".results button")
    expect(results).to_have_count(1)
    expect(results.locator("mark")).to_have_text("Lighthouse")
    expect(results).to_contain_text("…")
    expect(results).to_contain_text("<b>The Lighthouse</b> keeps burning.")
    expect(page.locator(".search [role=status]")).to_have_text("1 result")
    assert violations_of_state(page) == []
    results.click()
    expect(page.locator(f"#community-post-{hidden.pk}")).to_be_focused()
    expect(page.locator(f"#community-post-{hidden.pk}")).to_be_in_viewport()
    expect(field).to_be_hidden()

    find.click()
    # One character is a word in some scripts.
    field.fill("x")
    field.fill("天")
    expect(page.locator(".search [role=status]")).to_have_text("Nothing found")
    field.fill("absentword")
    expect(page.locator(".search [role=status]")).to_have_text("Nothing found")
    field.fill("post")
    expect(results).to_have_count(10)
    page.get_by_role("button", name="Show more results").click()
    expect(results).to_have_count(20)
    expect(results.nth(10)).to_be_focused()
    page.keyboard.press("Escape")
    expect(find).to_be_focused()
    expect(page.locator("article").first).to_be_visible()
    assert not live.errors


def test_the_results_give_way_to_a_post_of_the_reader_and_to_a_linked_one(live: Live, ada: Account) -> None:
    answered = live.message(content="Answered")
    live.messages(50, "A reply", parent=answered, author=ada)
    live.signed_in(ada)
    page, panel = live.open()
    find, field, results = panel.locator("#find"), panel.get_by_role("searchbox"), panel.locator(".results button")
    find.click()
    field.fill("reply")
    expect(results).to_have_count(10)
    write(panel, "My own post")
    expect(panel.locator("article", has_text="My own post")).to_be_visible()
    expect(field).to_be_hidden()

    find.click()
    expect(results.first).to_be_visible()
    page.evaluate("(id) => { location.hash = `#community-post-${id}`; }", str(answered.pk))
    expect(panel.locator(f"#community-post-{answered.pk}")).to_be_focused()
    expect(field).to_be_hidden()
    assert not live.errors


def test_a_small_discussion_has_no_search_and_a_failed_one_says_why(live: Live) -> None:
    live.messages(21)
    page = live.open_alone()
    with page.expect_response(f"**{COUNTS}"):
        page.locator("article").last.scroll_into_view_if_needed()
    page.get_by_role("button", name="Show more posts").click()
    expect(page.locator("article")).to_have_count(21)
    expect(page.locator("#find")).to_be_hidden()

    post = live.message(content="Answered")
    live.messages(50, "A reply", parent=post, author=post.author)
    page = live.open_alone()
    page.locator("#find").click()
    live.context.route("**/v1/search?*", lambda route: route.abort())
    page.get_by_role("searchbox").fill("reply")
    expect(page.locator(".search .problem")).to_have_text("There is no connection to the service.")
    live.context.unroute("**/v1/search?*")
    page.get_by_role("searchbox").press("Enter")
    results = page.locator(".results button")
    expect(results).to_have_count(10)
    assert not live.errors

    pending = live.intercept("/v1/search?*")
    more = page.get_by_role("button", name="Show more results")
    more.focus()
    page.keyboard.press("Enter")
    route = live.wait_for_first(pending)
    expect(more).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Enter")
    route.abort()
    expect(page.locator(".search .problem")).to_be_visible()
    expect(more).to_be_focused()
    expect(more).to_have_attribute("aria-disabled", "false")
    assert len(pending) == 1
    live.context.unroute(f"{live.app}/v1/search?*")
    page.keyboard.press("Enter")
    expect(results).to_have_count(20)
    expect(results.nth(10)).to_be_focused()
