"""Reading in the panel: posts, replies, quotes, tags, reactions, pages, refresh, empty and failed threads."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from messaging.models import Message
from messaging.queries import message_lists
from messaging.smart_tags import SMART_TAGS
from tests.factories import AgentAccountFactory, PageFactory, PersonFactory
from tests.widget.clock import poll
from tests.widget.live import Live, panel_frame

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_posts_are_newest_first_with_their_authors(live: Live) -> None:
    live.message(content="First words", author=PersonFactory(name="Grace"))
    live.message(content="Second words", author=AgentAccountFactory(name="Robbie", handle="robbie"))
    _, panel = live.open()
    posts = panel.locator("article")
    expect(posts).to_have_count(2)
    expect(posts.nth(0)).to_contain_text("Second words")
    expect(posts.nth(0).locator("header")).to_have_text(re.compile("RobbieAgent@robbie"))
    expect(posts.nth(1).locator("header")).not_to_contain_text("Agent")


def test_an_imported_post_has_the_votes_of_the_system_that_it_comes_from(live: Live) -> None:
    for score in (1_234, 0, -3, None):
        live.message(content=f"Score {score}", imported_score=score)
    _, panel = live.open()
    metas = panel.locator("article .meta")
    expect(metas.nth(0)).not_to_contain_text("former score")
    for place, text in ((1, "-3"), (2, "0"), (3, "1,234")):
        expect(metas.nth(place)).to_have_text(re.compile(f" · former score {text}$"))


def test_agents_have_a_badge_also_in_replies_and_quotes(live: Live) -> None:
    quoted = live.message(content="Said by a machine", author=AgentAccountFactory(name="Robbie"))
    live.message(content="Reply of a machine", parent=quoted, author=AgentAccountFactory(name="Robbie 2"))
    live.message(content="Look at this", quote=quoted)
    _, panel = live.open()
    expect(panel.locator("blockquote.quote")).to_have_text("RobbieAgentSaid by a machine")
    expect(panel.locator("article.reply .badge")).to_have_text("Agent")
    assert panel.locator("article .badge").count() == 3


@pytest.mark.journey
def test_posts_load_in_pages_and_filter_by_kind(live: Live) -> None:
    for n in range(23):
        live.message(content=f"Person {n}")
    live.message(content="Machine", author=AgentAccountFactory())
    _, panel = live.open()
    expect(panel.locator("article")).to_have_count(20)
    panel.get_by_role("button", name="Show more posts").click()
    expect(panel.locator("article")).to_have_count(24)
    expect(panel.get_by_role("button", name="Show more posts")).to_be_hidden()
    panel.get_by_label("Show posts by").select_option("Agents")
    expect(panel.locator("article .content")).to_have_text(["Machine"])


@pytest.mark.parametrize(("scanned", "presses"), [(5, 0), (1, 1)])
@pytest.mark.parametrize("exists", [True, False])
def test_posts_of_a_rare_kind_are_searched_for(
    live: Live, monkeypatch: pytest.MonkeyPatch, scanned: int, presses: int, exists: bool
) -> None:
    """A press ends after ten parts of a page in which there are none."""
    monkeypatch.setattr(message_lists, "SCAN_MAX", scanned)
    live.message(content="First", author=AgentAccountFactory() if exists else PersonFactory())
    for n in range(12):
        live.message(content=f"Person {n}")
    _, panel = live.open()
    more = panel.get_by_role("button", name="Show more posts")
    nothing = panel.get_by_role("heading", name="No posts yet")
    panel.get_by_label("Show posts by").select_option("Agents")
    for _ in range(presses):
        expect(panel.locator(".thread")).to_have_attribute("aria-busy", "false")
        assert panel.locator("article").count() == nothing.count() == 0
        more.click()
    expect(more).to_be_hidden()
    expect(panel.locator("article .content")).to_have_text(["First"] if exists else [])
    expect(nothing).to_have_count(0 if exists else 1)


def test_posts_of_a_kind_are_collected_from_the_parts_of_a_page(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_lists, "SCAN_MAX", 4)
    for n in range(24):
        live.message(content=f"Post {n}", author=AgentAccountFactory() if n % 4 == 0 else PersonFactory())
    _, panel = live.open()
    panel.get_by_label("Show posts by").select_option("Agents")
    expect(panel.locator("article .content")).to_have_text([f"Post {n}" for n in range(20, -1, -4)])
    expect(panel.get_by_role("button", name="Show more posts")).to_be_hidden()


def test_a_change_does_not_restart_a_search(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_lists, "SCAN_MAX", 1)
    live.context.clock.install()
    live.message(content="Machine", author=AgentAccountFactory())
    for n in range(12):
        live.message(content=f"Person {n}")
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
    _, panel = live.open()
    cards = panel.locator("article [role=group].tag")
    expect(cards).to_have_count(len(SMART_TAGS))
    shown = "\n".join(cards.all_inner_texts())
    expected = [
        "90%",
        "Supports",
        "Who paid for the bridge?",
        "opened in 1923",
        "4.5 of 5",
        "35%",
        "31 Dec 2027",
        "Only the railing",
        "12.5",
    ]
    assert [text for text in expected if text not in shown] == []
    links = cards.locator("a").evaluate_all("(links) => links.map((link) => [link.rel, link.target])")
    assert set(map(tuple, links)) == {("noopener noreferrer nofollow ugc", "_blank")}


def test_quote_of_a_deleted_post_explains_that(live: Live) -> None:
    deleted = live.message(content="Regretted")
    live.message(content="Quoting", quote=deleted)
    Message.objects.filter(pk=deleted.pk).update(status="deleted")
    _, panel = live.open()
    expect(panel.locator("article")).to_have_text(re.compile("The quoted post is no longer available"))


def test_reactions_show_counts_and_names(live: Live) -> None:
    post = live.message()
    for name, emoji in (("Ann", "👍"), ("Ben", "👍"), ("Cy", "🎉")):
        live.reaction(post, emoji, name=name)
    _, panel = live.open()
    expect(panel.locator(".chip")).to_have_text(["👍2", "🎉1"])
    panel.get_by_role("button", name="React").click()
    expect(panel.locator(".names")).to_have_text(re.compile("Cy.*Ben.*Ann"))


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
    posts = [live.message(content=f"Post {n}\n\nof several lines") for n in range(15)]
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


def test_more_new_posts_than_one_page_leave_no_gap(live: Live) -> None:
    live.message(content="Old")
    page, panel = live.open()
    for n in range(30):
        live.message(content=f"Burst {n}")
    refresh(page)
    panel.get_by_role("button", name="20 new posts").click()
    expect(panel.locator("article")).to_have_count(20)
    panel.get_by_role("button", name="Show more posts").click()
    expect(panel.locator("article")).to_have_count(31)


def test_list_that_its_size_cuts_short_removes_no_older_posts(live: Live) -> None:
    for n in range(3):
        live.message(content=f"Post {n}")
    page, panel = live.open()
    expect(panel.locator("article")).to_have_count(3)
    live.message(content="Fresh")
    live.context.route("**/api/messages?*", lambda route: route.continue_(url=route.request.url.replace("=20", "=2")))
    refresh(page)
    expect(panel.locator("article .content")).to_have_text(["Fresh", "Post 2", "Post 1", "Post 0"])


def refresh(page: Page) -> None:
    """Close and open the panel, which refreshes the thread as the timer does."""
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Talk").click()


def test_panel_accepts_messages_of_the_origin_in_its_url_only(live: Live) -> None:
    page = live.context.new_page()
    page.goto(live.url)
    for origin, accepted in ((live.host, True), ("https://elsewhere.example", False)):
        page.evaluate(FRAME, f"{live.panel_url()}&origin={origin}")
        panel = page.frame_locator("iframe").last
        panel.locator(".thread[aria-busy=false]").wait_for()
        live.message(content=f"Of the other page {accepted}", page=PageFactory(url=f"{live.host}/host/{accepted}"))
        page.evaluate(SEND_PAGE, f"{live.host}/host/{accepted}")
        page.wait_for_timeout(200)
        expect(panel.locator("article")).to_have_count(1 if accepted else 0)


FRAME = "(src) => document.body.append(Object.assign(document.createElement('iframe'), { src }))"
SEND_PAGE = (
    "(url) => document.querySelector('iframe:last-of-type').contentWindow.postMessage({ type: 'page', url }, '*')"
)


def test_client_side_navigation_loads_the_thread_of_the_new_page(live: Live) -> None:
    live.message(content="Of the article")
    page, panel = live.open()
    expect(panel.locator("article")).to_have_count(1)
    page.evaluate("history.pushState(null, '', '/host/other')")
    expect(panel.get_by_role("heading", name="No posts yet")).to_be_visible()
