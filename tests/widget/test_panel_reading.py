"""Reading in the panel: posts, replies, quotes, tags, reactions, pages, refresh, empty and failed threads."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from messaging.models import Message
from messaging.posts import lists as message_lists
from messaging.smart_tags import SMART_TAGS
from tests.factories import AgentAccountFactory, PageFactory, PersonFactory
from tests.widget.clock import poll
from tests.widget.live import Live, panel_frame
from tests.widget.test_panel_actions import post_of

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_post_is_shown_with_its_author_its_former_score_its_quote_and_its_reactions(live: Live) -> None:
    robbie = AgentAccountFactory(name="Robbie", handle="robbie")
    post, quoted = live.message(content="First words"), live.message(content="Said by a machine", author=robbie)
    deleted = live.message(content="Regretted")
    reply = live.message(content="Reply of a machine", parent=quoted, author=robbie)
    quotes = [live.message(content="Look at this", quote=each) for each in (quoted, deleted)]
    scores = {score: live.message(content="Imported", imported=True, imported_score=score) for score in (1_234, 0, -3)}
    Message.objects.filter(pk=deleted.pk).update(status="deleted")
    for name, emoji in (("Ann", "👍"), ("Ben", "👍"), ("Cy", "🎉")):
        live.reaction(post, emoji, name=name)
    page = live.open_alone()
    top = page.locator(".thread > .list > article > .body > .said")
    expect(top).to_contain_text([*["Imported"] * 3, *["Look at this"] * 2, "Said by a machine", "First words"])
    expect(post_of(page, quoted).locator("> header")).to_have_text(re.compile("RobbieAgent@robbie"))
    expect(post_of(page, post).locator("> header")).not_to_contain_text("Agent")
    expect(post_of(page, post).locator(".meta")).not_to_contain_text(re.compile("former score|imported"))
    for score, text in ((-3, "-3"), (0, "0"), (1_234, "1,234")):
        meta = post_of(page, scores[score]).locator(".meta")
        expect(meta).to_have_text(re.compile(f" · imported · former score {text}$"))
    expect(post_of(page, quotes[0]).locator("blockquote.quote")).to_have_text("RobbieAgentSaid by a machine")
    expect(post_of(page, quotes[1])).to_have_text(re.compile("The quoted post is no longer available"))
    expect(post_of(page, reply).locator(".badge")).to_have_text("Agent")
    assert page.locator("article .badge").count() == 3
    expect(page.locator(".chip")).to_have_text(["👍2", "🎉1"])
    post_of(page, post).get_by_role("button", name="React").click()
    expect(page.locator(".names:visible")).to_have_text(re.compile("Cy.*Ben.*Ann"))


@pytest.mark.journey
def test_posts_load_in_pages_and_filter_by_kind(live: Live) -> None:
    live.messages(23, "Person {n}")
    live.message(content="Machine", author=AgentAccountFactory())
    _, panel = live.open()
    expect(panel.locator("article")).to_have_count(20)
    panel.get_by_role("button", name="Show more posts").click()
    expect(panel.locator("article")).to_have_count(24)
    expect(panel.get_by_role("button", name="Show more posts")).to_be_hidden()
    panel.get_by_label("Show posts by").select_option("Agents")
    expect(panel.locator("article .content")).to_have_text(["Machine"])


def test_posts_of_a_rare_kind_are_searched_for(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """A press ends after ten parts of a page in which there are none."""
    live.messages(12, "Person {n}")
    page = live.open_alone()
    posts, kind = page.locator("article .content"), page.get_by_label("Show posts by")
    more = page.get_by_role("button", name="Show more posts")
    nothing = page.get_by_role("heading", name="No posts yet")
    for found in ([], ["First"]):
        if found:
            an_hour_ago = timezone.now() - timedelta(hours=1)
            live.message(content="First", author=AgentAccountFactory(), created_at=an_hour_ago)
        for scanned, presses in ((5, 0), (1, 1)):
            monkeypatch.setattr(message_lists, "SCAN_MAX", scanned)
            kind.select_option("Agents")
            for _ in range(presses):
                expect(page.locator(".thread")).to_have_attribute("aria-busy", "false")
                assert posts.count() == nothing.count() == 0
                more.click()
            expect(more).to_be_hidden()
            expect(posts).to_have_text(found)
            expect(nothing).to_have_count(0 if found else 1)
            kind.select_option("Everyone")
            expect(posts).to_have_count(12 + len(found))


def test_posts_of_a_kind_are_collected_from_the_parts_of_a_page(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_lists, "SCAN_MAX", 4)
    for n in range(24):
        live.message(content=f"Post {n}", author=AgentAccountFactory() if n % 4 == 0 else PersonFactory())
    panel = live.open_alone()
    panel.get_by_label("Show posts by").select_option("Agents")
    expect(panel.locator("article .content")).to_have_text([f"Post {n}" for n in range(20, -1, -4)])
    expect(panel.get_by_role("button", name="Show more posts")).to_be_hidden()


def test_a_change_does_not_restart_a_search(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_lists, "SCAN_MAX", 1)
    live.context.clock.install()
    live.message(content="Machine", author=AgentAccountFactory())
    live.messages(12, "Person {n}")
    page, panel = live.follow()
    panel.get_by_label("Show posts by").select_option("Agents")
    expect(panel.locator(".thread")).to_have_attribute("aria-busy", "false")
    panel.get_by_role("button", name="Show more posts").wait_for()
    lists: list[str] = []
    live.context.on("request", lambda request: lists.append(request.url) if "/api/messages?" in request.url else None)
    live.post("By a person")
    with page.expect_response(lambda response: "/v1/changes?" in response.url):
        poll(page)
    expect(panel.locator("article")).to_have_count(0)
    panel.get_by_role("button", name="Show more posts").click()
    expect(panel.locator("article .content")).to_have_text(["Machine"])
    assert len(lists) == 3


def test_every_smart_tag_is_shown_as_a_card(live: Live) -> None:
    for tag in SMART_TAGS.values():
        live.message(content=f"A {tag.type}", tag_type=tag.type.value, payload=tag.example)
    page = live.open_alone()
    cards = page.locator("article [role=group].tag")
    expect(cards).to_have_count(len(SMART_TAGS))
    shown = "\n".join(cards.all_inner_texts())
    expected = ["90%", "Supports", "Who paid for the bridge?", "opened in 1923", "4.5 of 5", "35%", "31 Dec 2027"]
    assert [text for text in (*expected, "Only the railing", "12.5") if text not in shown] == []
    links = cards.locator("a").evaluate_all("(links) => links.map((link) => [link.rel, link.target])")
    assert set(map(tuple, links)) == {("noopener noreferrer nofollow ugc", "_blank")}


def test_empty_and_failed_threads_have_a_notice(live: Live) -> None:
    page, panel = live.open()
    expect(panel.get_by_role("heading", name="No posts yet")).to_be_visible()
    page.close()
    live.context.route("**/api/messages?*", lambda route: route.fulfill(status=403, json={"error": "forbidden"}))
    # The panel has tried twice, and tries by itself again with the next poll only.
    page, panel = live.follow("list")
    expect(panel.get_by_role("alert")).to_contain_text("This is not allowed.")
    live.context.unroute("**/api/messages?*")
    live.message(content="Back again")
    panel.get_by_role("button", name="Try again").click()
    expect(panel.locator("article")).to_contain_text("Back again")


POSITION = """() => {
  const post = [...document.querySelectorAll("article")].find((post) => post.textContent.includes("Post 9"));
  return Math.round(post.getBoundingClientRect().top);
}"""


def test_refresh_does_not_move_the_visible_posts(live: Live) -> None:
    posts = live.messages(15, "Post {n}\n\nof several lines")
    page, panel = live.open()
    frame = panel_frame(page)
    frame.evaluate("document.getElementById('scroll').scrollTop = 500")
    before = frame.evaluate(POSITION)
    live.message(content="Fresh")
    live.message(content="A reply", parent=posts[9])
    Message.objects.filter(pk=posts[0].pk).update(status="hidden")
    refresh(page)
    expect(panel.get_by_role("button", name="1 new post")).to_be_visible()
    assert frame.evaluate(POSITION) == before
    expect(panel.locator("article", has_text="Post 9").locator("article.reply")).to_contain_text("A reply")
    expect(panel.locator("article", has_text=re.compile("Post 0"))).to_have_count(0)
    panel.get_by_role("button", name="1 new post").click()
    expect(panel.locator("article").first).to_contain_text("Fresh")
    assert frame.evaluate("document.getElementById('scroll').scrollTop") == 0


def test_a_list_cut_short_by_its_size_removes_no_posts_and_more_new_posts_than_one_page_leave_no_gap(
    live: Live,
) -> None:
    live.messages(3)
    page, panel = live.open()
    expect(panel.locator("article")).to_have_count(3)
    live.message(content="Fresh")
    live.context.route("**/api/messages?*", lambda route: route.continue_(url=route.request.url.replace("=20", "=2")))
    refresh(page)
    expect(panel.locator("article .content")).to_have_text(["Fresh", "Post 2", "Post 1", "Post 0"])
    live.context.unroute("**/api/messages?*")
    live.messages(30, "Burst {n}")
    refresh(page)
    panel.get_by_role("button", name="20 new posts").click()
    expect(panel.locator("article")).to_have_count(20)
    panel.get_by_role("button", name="Show more posts").click()
    expect(panel.locator("article")).to_have_count(34)


def refresh(page: Page) -> None:
    """Close and open the panel, which refreshes the thread as the timer does."""
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Talk").click()


def test_panel_accepts_messages_of_the_origin_in_its_url_only(live: Live) -> None:
    live.message(content="Of the other page", page=PageFactory(url=f"{live.host}/host/other"))
    page = live.context.new_page()
    page.goto(live.url)
    for origin in ("https://elsewhere.example", live.host):
        page.evaluate(FRAME, f"{live.panel_url()}&origin={origin}")
        page.frame_locator("iframe").last.locator(".thread[aria-busy=false]").wait_for()
    refusing, accepting = page.frames[1:]
    # It gets the message before the other gets the same one and has loaded the page.
    page.evaluate(SEND_PAGE, f"{live.host}/host/other")
    expect(accepting.locator("article .content")).to_have_text(["Of the other page"])
    expect(refusing.get_by_role("heading", name="No posts yet")).to_be_visible()
    assert refusing.locator("article").count() == 0


FRAME = "(src) => document.body.append(Object.assign(document.createElement('iframe'), { src }))"
SEND_PAGE = """(url) => {
  for (const frame of document.querySelectorAll("iframe")) frame.contentWindow.postMessage({ type: "page", url }, "*");
}"""
