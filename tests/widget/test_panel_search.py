"""Search in a discussion of more than 50 posts and replies."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Request, expect

from messaging.models import Account
from tests.widget.live import Live
from tests.widget.test_accessibility import violations_of

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
START = datetime(2026, 11, 1, tzinfo=UTC)
COUNTS = "/v1/presence/counts"


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
    assert violations_of(page) == []
    results.click()
    expect(page.locator(f"#community-post-{hidden.pk}")).to_be_focused()
    expect(page.locator(f"#community-post-{hidden.pk}")).to_be_in_viewport()
    expect(field).to_be_hidden()

    find.click()
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
    for _ in range(50):
        live.message(content="A reply", parent=answered)
    live.signed_in(ada)
    page, panel = live.open()
    find, field, results = panel.locator("#find"), panel.get_by_role("searchbox"), panel.locator(".results button")
    find.click()
    field.fill("reply")
    expect(results).to_have_count(10)
    panel.get_by_label("Write a post…").fill("My own post")
    panel.locator("#write").get_by_role("button", name="Post").click()
    expect(panel.locator("article", has_text="My own post")).to_be_visible()
    expect(field).to_be_hidden()

    find.click()
    expect(results.first).to_be_visible()
    page.evaluate("(id) => { location.hash = `#community-post-${id}`; }", str(answered.pk))
    expect(panel.locator(f"#community-post-{answered.pk}")).to_be_focused()
    expect(field).to_be_hidden()
    assert not live.errors


def test_a_small_discussion_has_no_search_and_a_failed_one_says_why(live: Live) -> None:
    for n in range(21):
        live.message(content=f"Post {n}")
    page = live.open_alone()
    with page.expect_response(f"**{COUNTS}"):
        page.locator("article").last.scroll_into_view_if_needed()
    page.get_by_role("button", name="Show more posts").click()
    expect(page.locator("article")).to_have_count(21)
    expect(page.locator("#find")).to_be_hidden()

    post = live.message(content="Answered")
    for _ in range(50):
        live.message(content="A reply", parent=post)
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
