"""The address of the page changes while its panel is open: to another name of the same page, or to another page.
It may name a post: the loader opens the panel there.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import FrameLocator, Page, Request, Route, expect

from embeds.widget.locales import words
from messaging.models import Account, Message
from tests.factories import PageFactory, PersonFactory
from tests.widget.live import Live, panel_frame, wait_until_drawn

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WORDS = words("en")
NORMALIZE = "/v1/presence/normalize-url"
SCROLLED = "document.getElementById('scroll').scrollTop"
CAMPAIGN = "?utm_source=mail"
NEXT_MESSAGE = """() => {
  window.told = new Promise((done) => addEventListener("message", () => done(), { once: true }));
}"""


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


def of_page(live: Live, query: str) -> Message:
    """A post on another page, with the path of the article."""
    return live.message(page=PageFactory(url=live.url + query), content=f"Of {query}")


def go(page: Page, address: str) -> None:
    page.evaluate("(address) => history.replaceState(null, '', '/host/article' + address)", address)


def open_at(live: Live, query: str) -> tuple[Page, FrameLocator, list[str]]:
    """Open the panel at an address; return the ids of the pages whose lists it loads, too."""
    lists: list[str] = []

    def note(request: Request) -> None:
        listed = re.search(r"/api/messages\?.*\bpageId=(\w+)", request.url)
        if listed:
            lists.append(listed[1])

    live.context.on("request", note)
    page = live.context.new_page()
    page.goto(live.url + query)
    page.locator("community-embed button.trigger").click()
    panel = page.frame_locator("iframe")
    expect(panel.locator("article .content").first).to_be_visible()
    return page, panel, lists


def hold_addresses(live: Live) -> dict[str, Route]:
    """The look-ups of addresses, by their queries; they get no response until the test sends one."""
    held: dict[str, Route] = {}

    def hold(route: Route) -> None:
        held[route.request.post_data_json["url"].removeprefix(live.url)] = route

    live.context.route(f"{live.app}{NORMALIZE}", hold)
    return held


def wait_for(live: Live, held: dict[str, Route], query: str) -> Route:
    for _ in range(6000):
        if query in held:
            break
        live.context.pages[0].wait_for_timeout(10)
    return held[query]


def test_address_that_names_the_same_page_leaves_the_posts_and_what_is_written(live: Live, ada: Account) -> None:
    long_page(live, 51)
    other = of_page(live, "?id=2")
    live.signed_in(ada)
    page, panel, lists = open_at(live, CAMPAIGN)
    expect(panel.locator("article")).to_have_count(20)
    panel.get_by_label("Write a post…").fill("A draft")
    panel.locator("article", has_text="Post 40").get_by_role("button", name="Reply").click()
    page.keyboard.type("Half a sen")
    scrolled = panel_frame(page).evaluate(SCROLLED)
    assert scrolled > 0
    with page.expect_response(f"{live.app}{NORMALIZE}"):
        go(page, "")
    with page.expect_response(f"{live.app}{NORMALIZE}"):
        go(page, "?utm_medium=x#top")
    page.keyboard.type("tence")
    expect(panel.get_by_label("Reply to")).to_be_focused()
    expect(panel.get_by_label("Reply to")).to_have_value("Half a sentence")
    expect(panel.get_by_label("Write a post…")).to_have_value("A draft")
    assert panel_frame(page).evaluate(SCROLLED) == scrolled
    # A large discussion has a search after its address has changed.
    panel.locator("article").last.scroll_into_view_if_needed()
    expect(panel.locator("#find")).to_be_visible()

    go(page, "?id=2")
    expect(panel.locator("article .content")).to_have_text(["Of ?id=2"])
    expect(panel.get_by_label("Write a post…")).to_have_value("")
    assert lists == [live.article.pk, other.page_id]
    go(page, CAMPAIGN)
    expect(panel.get_by_label("Write a post…")).to_have_value("A draft")
    assert live.errors == []


def test_late_page_of_an_earlier_address_is_not_shown(live: Live) -> None:
    live.message(content="Of the article")
    earlier, later, last = (of_page(live, f"?id={n}") for n in (2, 3, 4))
    page, panel, lists = open_at(live, "")
    held = hold_addresses(live)
    go(page, f"?id=2#community-post-{earlier.pk}")
    go(page, "?id=3")
    late = wait_for(live, held, "?id=2")
    wait_for(live, held, "?id=3").fallback()
    expect(panel.locator("article .content")).to_have_text(["Of ?id=3"])
    late.fallback()
    go(page, f"?id=4#community-post-{last.pk}")
    wait_for(live, held, "?id=4").fallback()
    expect_arrived(panel, last)
    assert lists == [live.article.pk, later.page_id, last.page_id]
    # A failure would be shown for some seconds.
    assert panel.locator("#toast").inner_text() == ""
    assert live.errors == []


def test_posts_stay_if_the_address_returns_before_the_other_page_is_known(live: Live) -> None:
    live.message(content="Of the article")
    of_page(live, "?id=2")
    last = of_page(live, "?id=4")
    page, panel, lists = open_at(live, "")
    held = hold_addresses(live)
    go(page, "?id=2")
    late = wait_for(live, held, "?id=2")
    panel_frame(page).evaluate(NEXT_MESSAGE)
    go(page, "")
    panel_frame(page).evaluate("told")
    late.fallback()
    go(page, "?id=4")
    wait_for(live, held, "?id=4").fallback()
    expect(panel.locator("article .content")).to_have_text(["Of ?id=4"])
    assert lists == [live.article.pk, last.page_id]


def test_page_of_several_links_is_looked_up_once_and_shows_the_last(live: Live) -> None:
    live.message(content="Of the article")
    first = of_page(live, "?id=2")
    last = live.message(page=first.page, content="Of ?id=2, too")
    page, panel, _ = open_at(live, "")
    held, looked_up = hold_addresses(live), []
    live.context.on("request", lambda request: looked_up.append(request.url) if NORMALIZE in request.url else None)
    go(page, f"?id=2#community-post-{first.pk}")
    route = wait_for(live, held, "?id=2")
    panel_frame(page).evaluate(NEXT_MESSAGE)
    go(page, f"?id=2#community-post-{last.pk}")
    panel_frame(page).evaluate("told")
    expect(panel.locator("article .content")).to_have_text(["Of the article"])
    route.fallback()
    expect_arrived(panel, last)
    assert len(looked_up) == 1
    assert panel.locator("#toast").inner_text() == ""


def test_unknown_page_of_an_address_is_told_and_shows_no_posts_until_it_is_loaded(live: Live) -> None:
    """The posts of the former page might be those of another one."""
    live.message(content="Of the article")
    of_page(live, "?id=2")
    page, panel, _ = open_at(live, "")
    panel.get_by_label("Write a post…").fill("A draft")

    def refuse(route: Route) -> Any:
        return route.fulfill(status=403, json={"error": "forbidden"})

    live.context.route(f"{live.app}{NORMALIZE}", refuse)
    go(page, "?id=2")
    retry = panel.get_by_role("button", name=WORDS["panel"]["retry"])
    expect(retry).to_be_visible()
    expect(panel.locator("article")).to_have_count(0)
    expect(panel.get_by_label("Write a post…")).to_have_value("")
    live.context.unroute(f"{live.app}{NORMALIZE}")
    retry.click()
    expect(panel.locator("article .content")).to_have_text(["Of ?id=2"])
    # With another path, the posts are removed before its page is known.
    held = hold_addresses(live)
    go(page, "/next")
    wait_for(live, held, "/next")
    expect(panel.locator("article")).to_have_count(0)


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


def test_a_post_that_is_not_there_is_told_and_those_of_later_links_are_marked_and_choose_everyone(live: Live) -> None:
    first, second = live.message(content="First"), live.message(content="Second")
    page, panel = arrive(live, live.message(status="hidden").pk)
    expect(page.locator("dialog")).to_be_visible()
    expect(panel.locator("#toast")).to_have_text(WORDS["error"]["message_not_found"])
    expect(panel.locator("article .content")).to_have_text(["Second", "First"])
    page.evaluate(f"location.hash = 'community-post-{first.pk}'")
    expect_arrived(panel, first)
    page.keyboard.press("Tab")
    expect(panel.locator(".linked")).to_have_count(0)
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


@pytest.mark.parametrize("held", ["reply", "root"])
def test_a_post_that_is_loaded_after_a_change_of_page_is_not_shown_there_and_no_failure(live: Live, held: str) -> None:
    root = long_page(live, 25)[0]
    posts = {"root": root, "reply": live.message(content="Reply", parent=root)}
    other = live.message(page=PageFactory(url=f"{live.host}/host/other"), content="Other root")
    others = [live.message(page=other.page, content=f"Other reply {n}", parent=other) for n in range(2)]
    late = live.intercept(f"/api/messages/{posts[held].pk}?*")
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


def test_other_fragments_lead_to_no_post(live: Live) -> None:
    live.message(content="A post")
    for fragment in ("community-post-../../x", "other"):
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
