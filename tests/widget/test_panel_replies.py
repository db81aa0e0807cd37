"""Replies in the panel: their order, the place of the hidden ones, long chains, and live replies."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import FrameLocator, expect

from messaging.models import Account, Message
from tests.api import Api
from tests.factories import PersonFactory
from tests.widget.clock import poll
from tests.widget.live import Live
from tests.widget.test_panel_actions import choose, post_of

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ROWS = """(list) => [...list.children].filter((node) => !node.hidden).map((node) =>
  node.matches("article") ? node.querySelector(".content").textContent : node.textContent)"""


def thread_of(live: Live, count: int) -> list[Message]:
    root = live.message(content="Root")
    start = timezone.now() - timedelta(hours=1)
    return [
        live.message(content=f"Answer {n:02}", parent=root, created_at=start + timedelta(seconds=n))
        for n in range(count)
    ]


def chain_of(live: Live, count: int) -> list[Message]:
    posts = [live.message(content="Link 0", author=PersonFactory(name="Author 0"))]
    for n in range(1, count):
        posts.append(live.message(content=f"Link {n}", parent=posts[-1], author=PersonFactory(name=f"Author {n}")))
    return posts


def rows(panel: FrameLocator) -> list[str]:
    """The replies to the first post and the buttons between them, from top to bottom."""
    shown: list[str] = panel.locator("article .replies > .list").first.evaluate(ROWS)
    return shown


def answers(first: int, last: int) -> list[str]:
    return [f"Answer {n:02}" for n in range(first, last + 1)]


def test_oldest_top_reply_has_the_button_below_it(live: Live) -> None:
    thread_of(live, 25)
    _, panel = live.open()
    assert rows(panel) == ["Answer 00", "Show 24 more replies"]
    panel.get_by_role("button", name="Show 24 more replies").click()
    expect(panel.locator("article.reply")).to_have_count(20)
    assert rows(panel) == [*answers(0, 19), "Show 5 more replies"]
    panel.get_by_role("button", name="Show 5 more replies").click()
    expect(panel.locator("article.reply")).to_have_count(25)
    assert rows(panel) == answers(0, 24)


def test_no_hole_is_between_the_top_reply_and_the_rest(live: Live) -> None:
    replies = thread_of(live, 25)
    live.reaction(replies[22], "👍")
    _, panel = live.open()
    assert rows(panel) == ["Show 24 more replies", "Answer 22"]
    panel.get_by_role("button", name="Show 24 more replies").click()
    expect(panel.locator("article.reply")).to_have_count(20)
    assert rows(panel) == [*answers(0, 19), "Show 5 more replies"]
    panel.get_by_role("button", name="Show 5 more replies").click()
    expect(panel.locator("article.reply")).to_have_count(25)
    assert rows(panel) == answers(0, 24)


def test_top_reply_with_a_draft_stays_and_the_button_marks_the_hole_before_it(live: Live) -> None:
    replies = thread_of(live, 25)
    live.reaction(replies[22], "👍")
    _, panel = live.open()
    panel.locator("article.reply").get_by_role("button", name="Reply").click()
    panel.locator("article.reply textarea").fill("Half a thought")
    panel.get_by_role("button", name="Show 24 more replies").click()
    expect(panel.locator("article.reply")).to_have_count(21)
    assert rows(panel) == [*answers(0, 19), "Show 4 more replies", "Answer 22"]
    expect(panel.locator("article.reply textarea")).to_have_value("Half a thought")


def test_own_reply_to_a_closed_list_opens_it(live: Live, ada: Account) -> None:
    thread_of(live, 5)
    live.signed_in(ada)
    _, panel = live.open()
    root = panel.locator(".thread > .list > article")
    root.locator("> .body").get_by_role("button", name="Reply").click()
    panel.locator("article textarea").fill("Mine")
    panel.locator("article form").get_by_role("button", name="Reply").click()
    expect(panel.locator("article.reply")).to_have_count(6)
    assert rows(panel) == [*answers(0, 4), "Mine"]
    expect(panel.locator("article.reply").last).to_be_focused()


@pytest.mark.parametrize(("others", "left"), [(0, []), (3, ["Show 3 replies"])])
def test_button_does_not_count_a_reply_that_its_author_has_deleted(
    live: Live, ada: Account, others: int, left: list[str]
) -> None:
    """No change and no list of the service brings the count."""
    root = live.message(content="Root")
    own = live.message(content="Mine", parent=root, author=ada)
    live.reaction(own, "👍")
    for n in range(others):
        live.message(content=f"Answer {n}", parent=root)
    live.signed_in(ada)
    live.context.route("**/v1/changes?*", lambda route: route.abort())
    _, panel = live.open()
    choose(post_of(panel, own), "delete")
    post_of(panel, own).locator("form").get_by_role("button", name="Delete").click()
    expect(post_of(panel, own)).to_have_count(0)
    assert rows(panel) == left
    assert Api().get(f"/api/messages/{root.pk}").json["replyCount"] == others


def test_button_counts_the_same_replies_after_one_that_awaits_review_is_deleted(live: Live, ada: Account) -> None:
    thread_of(live, 3)
    live.embed.community.pre_moderation = "everyone"
    live.embed.community.save()
    live.signed_in(ada)
    live.context.route("**/v1/changes?*", lambda route: route.abort())
    _, panel = live.open()
    root = panel.locator(".thread > .list > article")
    root.locator("> .body").get_by_role("button", name="Reply").click()
    panel.locator("article textarea").fill("Mine")
    panel.locator("article form").get_by_role("button", name="Reply").click()
    pending = panel.locator("article.reply", has_text="Mine")
    pending.wait_for()
    shown = rows(panel)
    choose(pending, "delete")
    pending.locator("form").get_by_role("button", name="Delete").click()
    expect(pending).to_have_count(0)
    assert rows(panel) == [row for row in shown if row != "Mine"]


def test_replies_of_others_appear_in_an_open_list_and_in_one_that_hides_none(live: Live) -> None:
    live.context.clock.install()
    opened, whole = live.message(content="Opened"), live.message(content="Whole")
    for n in range(3):
        live.message(content=f"Reply {n}", parent=opened)
    live.message(content="Only reply", parent=whole)
    page, panel = live.follow()
    panel.get_by_role("button", name="Show 2 more replies").click()
    expect(panel.locator("article.reply")).to_have_count(4)
    live.post("Live 1", parentId=str(opened.pk))
    live.post("Live 2", parentId=str(whole.pk))
    poll(page)
    expect(panel.locator("article", has_text="Opened").locator("article.reply")).to_have_count(4)
    expect(panel.locator("article", has_text="Whole").locator("article.reply .content")).to_have_text(
        ["Only reply", "Live 2"]
    )


def test_chain_of_eight_opens_in_one_press(live: Live) -> None:
    chain_of(live, 9)
    _, panel = live.open()
    panel.get_by_role("button", name="Show 1 reply").click()
    expect(panel.locator("article .content")).to_have_text([f"Link {n}" for n in range(9)])
    expect(panel.get_by_role("button", name="Show 1 reply")).to_have_count(0)


def test_replies_deeper_than_three_name_the_post_that_they_answer(live: Live) -> None:
    posts = chain_of(live, 7)
    _, panel = live.open()
    panel.get_by_role("button", name="Show 1 reply").first.click()
    expect(panel.locator("article")).to_have_count(7)
    links = panel.locator("article header").get_by_role("link", name="In reply to")
    expect(links).to_have_text([f"In reply to Author {n}" for n in (3, 4, 5)])
    assert (links.first.get_attribute("href") or "").endswith(f"/p/{posts[3].pk}")
    links.first.click()
    expect(panel.locator(f"#community-post-{posts[3].pk}")).to_be_focused()
    assert len(live.context.pages) == 1
