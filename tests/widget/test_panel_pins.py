"""Moderators pin posts and close the discussion in the panel, and every reader sees what that makes of it."""

from __future__ import annotations

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from embeds.widget.locales import words
from kernel.api import jwt
from messaging.models import Account, ClosedPage, Message, Moderator, Pin
from messaging.moderation.pages import pin_message, unpin_message
from messaging.pages.discussions import close_discussion, reopen_discussion
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.widget.clock import poll_until
from tests.widget.live import Live, walk_menu
from tests.widget.test_accessibility import violations_of_state
from tests.widget.test_panel_actions import items, post_of
from tests.widget.test_panel_moderation import decide, eventually_items

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PANEL, WORDS, ERRORS = (words("en")[group] for group in ("panel", "moderation", "moderation_error"))
CLOSED = words("en")["error"]["discussion_closed"]


@pytest.fixture
def mod(live: Live, ada: Account) -> Account:
    """Ada, as a moderator of the embed's community who is signed in."""
    Moderator.objects.create(community=live.embed.community, account=ada)
    live.signed_in(ada)
    return ada


def texts(panel: Page | FrameLocator) -> Locator:
    return panel.locator(".thread > .list > article > .body .content")


def pin(*posts: Message) -> None:
    for post in posts:
        pin_message(message_id=post.pk, by=SuperAdminFactory())


def pinned(panel: Page | FrameLocator) -> Locator:
    return panel.locator("article header .meta strong", has_text=PANEL["pinned"])


def head_menu(page: Page) -> Locator:
    return page.locator(".top .menu > button")


def close(page: Page, reason: str = "") -> None:
    """Choose "Close discussion" in the menu of the head, and send its form."""
    head_menu(page).click()
    page.get_by_role("menuitem", name=WORDS["close"], exact=True).click()
    if reason:
        page.locator(".thread > .tool input").fill(reason)
    page.locator(".thread > .tool").get_by_role("button", name=WORDS["close"], exact=True).click()


def test_a_post_is_pinned_and_unpinned_with_the_keyboard(live: Live, mod: Account) -> None:
    first, _, third = live.messages(3)
    page = live.open_alone()
    shown = post_of(page, first)
    eventually_items(shown, ["Copy link", "Report", WORDS["pin"], WORDS["hide"], WORDS["ban"]])
    button = shown.locator("> header .menu > button")
    button.focus()
    walk_menu(page, "ArrowDown", "ArrowDown", "Enter")
    expect(shown.locator("form input")).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    assert not Pin.objects.exists()
    walk_menu(page, "ArrowDown", "ArrowDown", "Enter")
    expect(shown.locator("form input")).to_be_focused()
    page.keyboard.type("The rules.")
    page.keyboard.press("Enter")
    expect(page.locator("#toast")).to_have_text(WORDS["pinned_now"])
    expect(texts(page)).to_have_text(["Post 0", "Post 2", "Post 1"])
    expect(pinned(page)).to_have_count(1)
    expect(shown.locator("> header")).to_contain_text(PANEL["pinned"])
    expect(button).to_be_focused()
    assert live.embed.community.decisions.get().reason == "The rules."
    assert items(post_of(page, third)) == ["Copy link", "Report", WORDS["pin"], WORDS["hide"], WORDS["ban"]]
    # Another order, and a reload, show it first too.
    page.get_by_label("Order").select_option("oldest")
    expect(texts(page)).to_have_text(["Post 0", "Post 1", "Post 2"])
    page.get_by_label("Order").select_option("newest")
    expect(texts(page)).to_have_text(["Post 0", "Post 2", "Post 1"])
    button.focus()
    walk_menu(page, "ArrowDown", "ArrowDown", "Enter")
    expect(page.locator("#toast")).to_have_text(WORDS["unpinned"])
    expect(texts(page)).to_have_text(["Post 2", "Post 1", "Post 0"])
    expect(pinned(page)).to_have_count(0)
    expect(button).to_be_focused()
    assert not Pin.objects.exists()
    assert live.errors == []


def test_only_published_top_level_posts_of_the_community_are_pinned(live: Live, mod: Account) -> None:
    live.change(shows="everyone")
    root, others = live.message(content="Root"), live.message(content="Others", community=CommunityFactory())
    reply = live.message(content="A reply", parent=root)
    held = live.message(content="Held", status="pending")
    page = live.open_alone()
    expect(post_of(page, held)).to_be_visible()
    assert WORDS["pin"] in items(post_of(page, root))
    for post in (others, reply, held):
        assert WORDS["pin"] not in items(post_of(page, post))


def test_a_fourth_pin_is_refused_in_words(live: Live, mod: Account) -> None:
    fourth, *three = live.messages(4)
    pin(*three)
    page = live.open_alone()
    shown = post_of(page, fourth)
    eventually_items(shown, ["Copy link", "Report", WORDS["pin"], WORDS["hide"], WORDS["ban"]])
    decide(shown, "pin")
    problem = shown.locator("form .problem")
    expect(problem).to_have_text(ERRORS["too_many_pins"])
    expect(texts(page)).to_have_text(["Post 3", "Post 2", "Post 1", "Post 0"])
    assert not Pin.objects.filter(message=fourth).exists()
    live.context.route("**/v1/moderation/**", lambda route: route.abort())
    shown.locator("form").get_by_role("button", name=WORDS["pin"]).click()
    expect(problem).to_have_text("There is no connection to the service.")
    live.context.unroute("**/v1/moderation/**")
    Moderator.objects.filter(account=mod).delete()
    shown.locator("form").get_by_role("button", name=WORDS["pin"]).click()
    expect(problem).to_have_text(ERRORS["moderator_required"])


def test_what_another_moderator_has_unpinned_is_said_and_moves(live: Live, mod: Account) -> None:
    first, second = live.messages(2)
    pin(first)
    page = live.open_alone()
    shown = post_of(page, first)
    eventually_items(shown, ["Copy link", "Report", WORDS["unpin"], WORDS["hide"], WORDS["ban"]])
    unpin_message(message_id=first.pk, by=SuperAdminFactory())
    shown.locator("> header .menu > button").click()
    shown.get_by_role("menuitem", name=WORDS["unpin"]).click()
    expect(page.locator("#toast")).to_have_text(ERRORS["pin_not_found"])
    expect(texts(page)).to_have_text(["Post 1", "Post 0"])
    expect(pinned(page)).to_have_count(0)
    assert items(post_of(page, second))[2] == WORDS["pin"]


@pytest.mark.parametrize("order", ["newest", "oldest", "reactions"])
def test_every_reader_sees_pinned_posts_first_in_every_order(live: Live, order: str) -> None:
    posts = live.messages(25)
    bystander = MessageFactory(page=PageFactory(), community=live.embed.community)
    pin(bystander, posts[3], posts[12])
    page = live.open_alone()
    page.get_by_label("Order").select_option(order)
    expect(texts(page).nth(19)).to_be_visible()
    expect(texts(page)).to_have_count(20)
    assert texts(page).all_inner_texts()[:2] == ["Post 12", "Post 3"]
    expect(pinned(page)).to_have_count(2)
    page.get_by_role("button", name="Show more posts").click()
    expect(texts(page)).to_have_count(25)
    rest = [n for n in range(25) if n not in (3, 12)]
    expected = [12, 3, *(rest if order == "oldest" else rest[::-1])]
    assert texts(page).all_inner_texts() == [f"Post {n}" for n in expected]
    # With a filter they are in their places, and still say that they are pinned.
    page.get_by_label("Order").select_option("newest")
    page.get_by_label("Show posts by").select_option("human")
    expect(texts(page).first).to_have_text("Post 24")
    page.locator(".thread[aria-busy=false]").wait_for()
    assert texts(page).all_inner_texts() == [f"Post {n}" for n in range(24, 4, -1)]
    expect(pinned(page)).to_have_count(1)
    assert live.errors == []


def test_new_posts_are_offered_and_shown_below_the_pinned_ones(live: Live, ada: Account) -> None:
    live.context.clock.install()
    live.signed_in(ada)
    live.rule(pre_moderation="off")
    first, *_ = live.messages(3, "Post {n}." + "\n\nMore." * 12)
    pin(first)
    page = live.follow_alone()
    expect(texts(page)).to_have_count(3)
    page.locator("article").nth(2).scroll_into_view_if_needed()
    page.locator("#scroll").evaluate("(scroll) => scroll.scrollBy(0, 200)")
    live.post("New")
    news = page.get_by_role("button", name="1 new post")
    poll_until(page, news)
    expect(texts(page)).to_have_count(3)
    news.click()
    expect(page.locator("article", has_text="New")).to_be_focused()
    expect(page.locator("article", has_text="New")).to_be_in_viewport()
    assert [text.split(".")[0] for text in texts(page).all_inner_texts()] == ["Post 0", "New", "Post 2", "Post 1"]
    page.get_by_label(PANEL["write"]).fill("Mine")
    page.locator(".foot").get_by_role("button", name="Post", exact=True).click()
    expect(page.locator("article", has_text="Mine")).to_be_in_viewport()
    assert texts(page).all_inner_texts()[1] == "Mine"


def test_a_change_of_a_pinned_post_leaves_it_pinned_and_a_list_moves_what_was_pinned_since(
    live: Live, mod: Account
) -> None:
    live.context.clock.install()
    first, second, third = live.messages(3)
    replier = PersonFactory()
    replies = [live.post(f"Reply {n}", by=replier, parentId=str(third.pk)) for n in range(2)]
    pin(first)
    page = live.follow_alone()
    edited = {"content": "Edited"}
    assert Api.as_person(first.author).put(f"/api/messages/{first.pk}", edited).status == 200
    poll_until(page, page.get_by_text("Edited", exact=True))
    expect(pinned(page)).to_have_count(1)
    expect(texts(page)).to_have_text(["Edited", "Post 2", "Post 1"])
    # A reader who writes a reply goes on writing where the post is now.
    post_of(page, second).get_by_role("button", name="Reply").click()
    page.keyboard.type("I think")
    pin(second)
    unpin_message(message_id=first.pk, by=SuperAdminFactory())
    # The deletion of a post that is not shown makes the panel load its list again: one of the replies is the top one.
    headers = {"Authorization": f"Bearer {jwt.issue_user_token(replier)}", "X-User-Id": str(replier.pk)}
    for reply in replies:
        assert live.context.request.delete(f"{live.app}/api/messages/{reply}", headers=headers).status == 200
    poll_until(page, post_of(page, second).locator("> header strong"))
    expect(texts(page)).to_have_text(["Post 1", "Post 2", "Edited"])
    expect(post_of(page, second).locator("textarea")).to_have_value("I think")
    expect(post_of(page, second).locator("textarea")).to_be_focused()
    expect(pinned(page)).to_have_count(1)
    assert items(post_of(page, third))[2] == WORDS["pin"]


def test_a_discussion_is_closed_and_reopened_at_the_head(live: Live, mod: Account) -> None:
    post = live.message(content="Fine")
    other = PageFactory()
    page = live.open_alone()
    note = page.locator(".thread > .review")
    head_menu(page).focus()
    walk_menu(page, "Enter")
    field = page.locator(".thread > .tool input")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(head_menu(page)).to_be_focused()
    expect(note).to_be_hidden()
    close(page, "All is said.")
    expect(page.locator("#toast")).to_have_text(WORDS["closed_now"])
    expect(note).to_have_text(f"{WORDS['closed']} {WORDS['close_hint']}")
    closed = ClosedPage.objects.get()
    assert (closed.page_id, closed.community) == (live.article.pk, live.embed.community)
    assert live.embed.community.decisions.get().reason == "All is said."
    body = {"content": "More", "communityId": str(live.embed.community_id)}
    author = Api.as_person(PersonFactory())
    assert author.post("/api/messages", body | {"pageId": live.article.pk}).error == "discussion_closed"
    assert author.post("/api/messages", body | {"pageId": other.pk}).status == 201
    page.reload()
    expect(note).to_contain_text(WORDS["closed"])
    expect(post_of(page, post).locator(".content")).to_have_text("Fine")
    head_menu(page).click()
    page.get_by_role("menuitem", name=WORDS["reopen"]).click()
    expect(page.locator("#toast")).to_have_text(WORDS["reopened"])
    expect(note).to_be_hidden()
    assert not ClosedPage.objects.exists()
    live.post("More")
    assert live.errors == []


def test_refused_closing_and_reopening_say_why(live: Live, mod: Account) -> None:
    community, boss = live.embed.community, SuperAdminFactory()
    page = live.open_alone()
    live.context.route("**/closed", lambda route: route.abort())
    close(page)
    problem = page.locator(".thread > .tool .problem")
    expect(problem).to_have_text("There is no connection to the service.")
    live.context.unroute("**/closed")
    with page.expect_response("**/v1/communities/*/pages/*"):
        page.locator(".thread > .tool").get_by_role("button", name=WORDS["close"], exact=True).click()
    expect(page.locator(".thread > .review")).to_be_visible()
    reopen_discussion(community_id=community.pk, page_id=live.article.pk, by=boss)
    head_menu(page).click()
    page.get_by_role("menuitem", name=WORDS["reopen"]).click()
    expect(page.locator("#toast")).to_have_text(ERRORS["closing_not_found"])
    expect(page.locator(".thread > .review")).to_be_hidden()
    head_menu(page).click()
    page.get_by_role("menuitem", name=WORDS["close"], exact=True).click()
    Moderator.objects.filter(account=mod).delete()
    page.locator(".thread > .tool").get_by_role("button", name=WORDS["close"], exact=True).click()
    expect(problem).to_have_text(ERRORS["moderator_required"])
    assert not ClosedPage.objects.exists()


def test_what_the_rule_has_closed_says_so_and_has_no_menu(live: Live, mod: Account) -> None:
    post = live.message(content="Old")
    Message.objects.filter(pk=post.pk).update(created_at="2020-01-01T00:00:00Z")
    live.rule(close_after_days=1)
    page = live.open_alone()
    expect(page.locator(".thread > .review")).to_have_text(f"{WORDS['closed']} {WORDS['closed_by_rule']}")
    expect(head_menu(page)).to_be_hidden()


def test_closing_ends_with_the_session_and_is_of_the_page(live: Live, mod: Account) -> None:
    close_discussion(community_id=live.embed.community_id, page_id=live.article.pk, by=mod)
    page = live.open_alone()
    expect(page.locator(".thread > .review")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator(".thread > .review")).to_be_hidden()
    expect(head_menu(page)).to_be_hidden()


def test_who_begins_to_write_in_a_closed_discussion_is_told_at_once(live: Live) -> None:
    post = live.message(content="Published")
    foreign = live.message(content="Of no community", community=None)
    live.change(shows="everyone")
    page = live.open_alone()
    problem = page.locator(".composer:has(textarea:focus) .problem")
    with page.expect_response("**/v1/communities/*/pages/*"):
        page.locator(".composer textarea").first.click()
    expect(problem).to_be_hidden()
    close_discussion(community_id=live.embed.community_id, page_id=live.article.pk, by=SuperAdminFactory())
    page.reload()
    page.locator(".composer textarea").first.click()
    expect(problem).to_have_text(CLOSED)
    post_of(page, post).get_by_role("button", name="Reply").click()
    expect(problem).to_have_text(CLOSED)
    post_of(page, foreign).get_by_role("button", name="Reply").click()
    post_of(page, foreign).locator("textarea").fill("A text")
    expect(problem).to_be_hidden()
    assert live.errors == []


def test_a_reader_of_a_closed_discussion_is_told_in_words_and_the_text_stays(live: Live, ada: Account) -> None:
    post = live.message(content="Fine")
    live.signed_in(ada)
    page = live.open_alone()
    close_discussion(community_id=live.embed.community_id, page_id=live.article.pk, by=SuperAdminFactory())
    area = page.get_by_label(PANEL["write"])
    area.fill("Too late")
    page.locator(".foot").get_by_role("button", name="Post", exact=True).click()
    expect(page.locator(".foot .problem")).to_have_text(f"{CLOSED} {PANEL['draft_saved']}")
    expect(area).to_have_value("Too late")
    shown = post_of(page, post)
    shown.get_by_role("button", name="Reply").click()
    page.keyboard.type("Too late as well")
    shown.locator("form").get_by_role("button", name="Reply", exact=True).click()
    expect(shown.locator("form .problem")).to_have_text(f"{CLOSED} {PANEL['draft_saved']}")
    expect(shown.locator("textarea")).to_have_value("Too late as well")
    page.reload()
    expect(area).to_have_value("Too late")
    expect(page.locator(".top .menu, .thread > .review")).to_have_count(0)
    assert Message.objects.count() == 1


@pytest.mark.parametrize("lang", ["de", "ar"])
def test_pins_and_closing_fit_a_phone_without_violations(live: Live, mod: Account, lang: str) -> None:
    local = words(lang)
    first, _ = live.messages(2)
    live.message(content="Held", status="pending")
    pin(first)
    page = live.context.new_page()
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(live.panel_url(lang=lang))
    expect(post_of(page, first).locator("> header")).to_contain_text(local["panel"]["pinned"])
    head_menu(page).click()
    item = page.get_by_role("menuitem", name=local["moderation"]["close"])
    box = item.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert violations_of_state(page) == []
    page.set_viewport_size({"width": 390, "height": 800})
    head_menu(page).focus()
    if not item.is_visible():
        head_menu(page).click()
    item.click()
    expect(page.locator(".thread > .tool input")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Enter")
    expect(page.locator(".thread > .review")).to_contain_text(local["moderation"]["closed"])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations_of_state(page) == []
