"""Replies in the panel: their order, the place of the hidden ones, and long chains."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, expect

from messaging.models import Account, Message
from tests.api import Api
from tests.factories import PersonFactory
from tests.widget.live import Live
from tests.widget.test_panel_actions import delete, post_of

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ROWS = """(list) => [...list.children].filter((node) => !node.hidden).map((node) =>
  node.matches("article") ? node.querySelector(".content").textContent : node.textContent)"""


def thread_of(live: Live, count: int) -> tuple[Message, list[Message]]:
    root, author = live.message(content="Root"), PersonFactory()
    start = timezone.now() - timedelta(hours=1)
    return root, [
        live.message(content=f"Answer {n:02}", parent=root, author=author, created_at=start + timedelta(seconds=n))
        for n in range(count)
    ]


def rows(post: Locator) -> list[str]:
    """The replies to a post and the buttons between them, from top to bottom."""
    shown: list[str] = post.locator("> .replies > .list").evaluate(ROWS)
    return shown


def answers(first: int, last: int) -> list[str]:
    return [f"Answer {n:02}" for n in range(first, last + 1)]


def reply_to(post: Locator, text: str) -> None:
    post.locator("> .body").get_by_role("button", name="Reply").click()
    post.locator("textarea").fill(text)
    post.locator("form").get_by_role("button", name="Reply").click()


def test_button_is_below_the_oldest_reply_and_before_a_later_one_which_leaves_no_hole_unless_it_has_a_draft(
    live: Live,
) -> None:
    threads = [thread_of(live, 25) for _ in range(3)]
    for _, replies in threads[1:]:
        live.reaction(replies[22], "👍")
    panel = live.open_alone()
    oldest, later, drafted = (post_of(panel, root) for root, _ in threads)
    assert rows(oldest) == ["Answer 00", "Show 24 more replies"]
    assert rows(later) == rows(drafted) == ["Show 24 more replies", "Answer 22"]
    for post in (oldest, later):
        post.get_by_role("button", name="Show 24 more replies").click()
        expect(post.locator("article.reply")).to_have_count(20)
        assert rows(post) == [*answers(0, 19), "Show 5 more replies"]
        post.get_by_role("button", name="Show 5 more replies").click()
        expect(post.locator("article.reply")).to_have_count(25)
        assert rows(post) == answers(0, 24)
    draft = drafted.locator("article.reply textarea")
    drafted.locator("article.reply").get_by_role("button", name="Reply").click()
    draft.fill("Half a thought")
    drafted.get_by_role("button", name="Show 24 more replies").click()
    expect(drafted.locator("article.reply")).to_have_count(21)
    assert rows(drafted) == [*answers(0, 19), "Show 4 more replies", "Answer 22"]
    expect(draft).to_have_value("Half a thought")


def test_own_reply_opens_its_list_and_a_deleted_one_is_not_counted(live: Live, ada: Account) -> None:
    """No change and no list of the service brings the count."""
    closed, _ = thread_of(live, 5)
    roots = {others: live.message(content=f"Root with {others} others") for others in (0, 3)}
    own = {others: live.message(content="Mine", parent=root, author=ada) for others, root in roots.items()}
    for others, root in roots.items():
        live.reaction(own[others], "👍")
        live.messages(others, "Answer {n}", parent=root)
    live.signed_in(ada)
    live.context.route("**/v1/changes?*", lambda route: route.abort())
    panel = live.open_alone()
    for others, left in ((0, []), (3, ["Show 3 replies"])):
        delete(post_of(panel, own[others]))
        expect(post_of(panel, own[others])).to_have_count(0)
        assert rows(post_of(panel, roots[others])) == left
        assert Api().get(f"/api/messages/{roots[others].pk}").json["replyCount"] == others
    post = post_of(panel, closed)
    reply_to(post, "Mine")
    expect(post.locator("article.reply")).to_have_count(6)
    assert rows(post) == [*answers(0, 4), "Mine"]
    expect(post.locator("article.reply").last).to_be_focused()


def test_button_counts_the_same_replies_after_one_that_awaits_review_is_deleted(live: Live, ada: Account) -> None:
    root, _ = thread_of(live, 3)
    live.moderate()
    live.signed_in(ada)
    live.context.route("**/v1/changes?*", lambda route: route.abort())
    panel = live.open_alone()
    post = post_of(panel, root)
    reply_to(post, "Mine")
    pending = panel.locator("article.reply", has_text="Mine")
    pending.wait_for()
    shown = rows(post)
    assert "Mine" in shown
    delete(pending)
    expect(pending).to_have_count(0)
    assert rows(post) == [row for row in shown if row != "Mine"]


def test_chain_opens_in_one_press_and_its_deep_replies_name_the_post_that_they_answer(live: Live) -> None:
    posts: list[Message] = []
    for n in range(9):
        author = PersonFactory(name=f"Author {n}")
        posts.append(live.message(content=f"Link {n}", parent=posts[-1] if posts else None, author=author))
    panel = live.open_alone()
    panel.get_by_role("button", name="Show 1 reply").click()
    expect(panel.locator("article .content")).to_have_text([f"Link {n}" for n in range(9)])
    expect(panel.get_by_role("button", name="Show 1 reply")).to_have_count(0)
    links = panel.locator("article header").get_by_role("link", name="In reply to")
    expect(links).to_have_text([f"In reply to Author {n}" for n in range(3, 8)])
    assert (links.first.get_attribute("href") or "").endswith(f"/p/{posts[3].pk}")
    links.first.click()
    expect(post_of(panel, posts[3])).to_be_focused()
    assert len(live.context.pages) == 1
