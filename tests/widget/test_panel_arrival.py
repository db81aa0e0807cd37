"""Links to posts on a host page: the loader opens the panel at the post."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import FrameLocator, Page, expect

from embeds.widget.locales import words
from messaging.models import Message
from tests.factories import PageFactory, PersonFactory
from tests.widget.live import Live, wait_until_drawn

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WORDS = words("en")


def arrive(live: Live, message_id: object) -> tuple[Page, FrameLocator]:
    """Open the host page by a link to a post, and wait for the thread."""
    page = live.context.new_page()
    page.goto(f"{live.url}#community-post-{message_id}")
    panel = page.frame_locator("iframe")
    panel.locator(".thread[aria-busy=false]").wait_for()
    wait_until_drawn(page, panel.locator("h1"))
    return page, panel


def expect_arrived(panel: FrameLocator, message: Message) -> None:
    post = panel.locator(f"#community-post-{message.pk}")
    expect(post).to_be_focused()
    expect(post).to_have_class("post reply linked" if message.parent_id else "post linked")
    expect(post.locator("> header")).to_be_in_viewport()


def long_page(live: Live, posts: int) -> list[Message]:
    """Posts with the same author, the oldest first."""
    now, author = timezone.now(), PersonFactory()
    return [
        live.message(content=f"Post {n}", author=author, created_at=now - timedelta(minutes=posts - n))
        for n in range(posts)
    ]


def test_a_post_of_the_first_list_is_marked_until_the_focus_leaves_it(live: Live) -> None:
    message = live.message(content="Linked")
    live.message(content="Newer")
    page, panel = arrive(live, message.pk)
    expect(page.locator("dialog")).to_be_visible()
    expect_arrived(panel, message)
    page.keyboard.press("Tab")
    expect(panel.locator(".linked")).to_have_count(0)
    assert live.errors == []


def test_an_old_post_follows_the_button_for_those_before_it(live: Live) -> None:
    messages = long_page(live, 45)
    _page, panel = arrive(live, messages[2].pk)
    expect_arrived(panel, messages[2])
    contents = panel.locator("article .content")
    expect(contents).to_have_text([f"Post {n}" for n in (*range(44, 24, -1), 2)])
    more = panel.get_by_role("button", name=WORDS["panel"]["more"])
    expect(
        panel.locator(f"#community-post-{messages[25].pk} + button + #community-post-{messages[2].pk}")
    ).to_have_count(1)
    more.click()
    expect(contents).to_have_text([f"Post {n}" for n in (*range(44, 4, -1), 2)])
    more.click()
    expect(contents).to_have_text([f"Post {n}" for n in range(44, -1, -1)])
    expect(more).to_be_hidden()
    assert live.errors == []


def test_a_deep_reply_is_shown_in_its_place(live: Live) -> None:
    """Below a post that is not in the first list, at the end of a chain, among more replies than are loaded."""
    chain = [long_page(live, 25)[0]]
    for depth in range(4):
        chain.append(live.message(content=f"Depth {depth + 1}", parent=chain[-1]))
    now, author = timezone.now(), PersonFactory()
    siblings = [
        live.message(content=f"Reply {n}", parent=chain[-1], author=author, created_at=now + timedelta(seconds=n))
        for n in range(30)
    ]
    _page, panel = arrive(live, siblings[25].pk)
    expect_arrived(panel, siblings[25])
    replies = panel.locator(f"#community-post-{chain[-1].pk} .content")
    expect(replies).to_have_text(["Depth 4", *(f"Reply {n}" for n in range(20)), "Reply 25"])
    panel.get_by_role("button", name="Show 9 more replies").click()
    expect(replies).to_have_text(["Depth 4", *(f"Reply {n}" for n in range(30))])
    assert live.errors == []


def test_later_links_lead_to_their_posts_and_choose_everyone_again(live: Live) -> None:
    first, second = live.message(content="First"), live.message(content="Second")
    page, panel = live.open()
    page.evaluate(f"location.hash = 'community-post-{first.pk}'")
    expect_arrived(panel, first)
    panel.locator("#kind").select_option("agent")
    expect(panel.locator("article")).to_have_count(0)
    page.evaluate(f"location.hash = 'community-post-{second.pk}'")
    expect_arrived(panel, second)
    expect(panel.locator("#kind")).to_have_value("")
    page.get_by_role("button", name="Close").click()
    page.evaluate("history.replaceState(null, '', location.href)")
    expect(page.locator("dialog")).to_be_hidden()
    page.evaluate("location.hash = ''")
    page.evaluate(f"location.hash = 'community-post-{second.pk}'")
    expect(page.locator("dialog")).to_be_visible()
    expect_arrived(panel, second)
    assert live.errors == []


def test_a_post_that_is_not_there_is_told_and_the_thread_is_shown(live: Live) -> None:
    live.message(content="Another")
    hidden = live.message(status="hidden")
    _page, panel = arrive(live, hidden.pk)
    expect(panel.locator("#toast")).to_have_text(WORDS["error"]["message_not_found"])
    expect(panel.locator("article .content")).to_have_text(["Another"])


@pytest.mark.parametrize("held", ["reply", "root"])
def test_a_post_that_is_loaded_after_a_change_of_page_is_not_shown_there_and_no_failure(live: Live, held: str) -> None:
    root = long_page(live, 25)[0]
    posts = {"root": root, "reply": live.message(content="Reply", parent=root)}
    other = live.message(page=PageFactory(url=f"{live.host}/host/other"), content="Other root")
    others = [live.message(page=other.page, content=f"Other reply {n}", parent=other) for n in range(2)]
    late = live.intercept(f"/api/messages/{posts[held].pk}")
    page, panel = arrive(live, posts["reply"].pk)
    response = live.wait_for_first(late)
    page.evaluate("history.pushState(null, '', '/host/other')")
    expect(panel.locator("article .content").first).to_have_text("Other root")
    response.fallback()
    # The next post is loaded after it.
    page.evaluate(f"location.hash = 'community-post-{others[1].pk}'")
    expect_arrived(panel, others[1])
    expect(panel.locator("article .content")).to_have_text(["Other root", "Other reply 0", "Other reply 1"])
    # A failure would be shown for some seconds.
    assert panel.locator("#toast").inner_text() == ""
    assert live.errors == []


@pytest.mark.parametrize("fragment", ["community-post-../../x", "other"])
def test_other_fragments_lead_to_no_post(live: Live, fragment: str) -> None:
    live.message(content="A post")
    page = live.context.new_page()
    page.goto(f"{live.url}#{fragment}")
    page.locator("community-embed button.trigger").wait_for(state="attached")
    panel = page.frame_locator("iframe")
    if not page.locator("dialog").is_visible():
        page.locator("community-embed button.trigger").click()
    expect(panel.locator("article .content")).to_have_text(["A post"])
    expect(panel.locator(".linked")).to_have_count(0)
    expect(panel.locator("#toast")).to_be_empty()
    assert live.errors == []


def test_the_service_is_away_and_the_post_is_shown_when_it_is_back(live: Live) -> None:
    message = live.message(content="Linked")
    live.context.route(f"{live.app}/v1/presence/normalize-url", lambda route: route.abort(), times=1)
    page = live.context.new_page()
    page.goto(f"{live.url}#community-post-{message.pk}")
    panel = page.frame_locator("iframe")
    retry = panel.get_by_role("button", name=WORDS["panel"]["retry"])
    retry.wait_for()
    wait_until_drawn(page, panel.locator("h1"))
    retry.click()
    expect_arrived(panel, message)
