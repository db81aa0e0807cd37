"""Changes of the page in an open panel: new posts and replies, counts, moderation, and a reader who is not disturbed.

These panels poll (`tests/widget/test_panel_stream.py` has the same with streams); the clock of the browser is advanced.
"""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from playwright.sync_api import expect

from embeds.widget.locales import words
from messaging.models import Account, Message
from messaging.moderation.services import approve_message, hide_message, restore_message
from tests.api import Api
from tests.factories import AgentAccountFactory, PersonFactory, SuperAdminFactory
from tests.widget.clock import poll
from tests.widget.live import Live, panel_frame
from tests.widget.test_panel_actions import post_of
from tests.widget.test_panel_own import write

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DELETED = words("en")["panel"]["deleted"]
TOP_LEVEL = ".thread > .list > article"
SCROLL_TO = "(y) => { document.getElementById('scroll').scrollTop = y; }"
SCROLLED = "document.getElementById('scroll').scrollTop"
TOP_OF = """(text) => {
  const posts = [...document.querySelectorAll("article")].filter((post) => post.textContent.includes(text));
  return Math.round(posts.at(-1).getBoundingClientRect().top);
}"""
CARET = "(({ tagName, value, selectionStart }) => [tagName, value, selectionStart])(document.activeElement)"
SELECTED = "String(getSelection())"


@pytest.fixture(autouse=True)
def _clock(live: Live) -> None:
    live.context.clock.install()


def many(live: Live) -> list[Message]:
    return live.messages(15, "Post {n}\n\nof several lines")


def hide(message_id: UUID | str) -> None:
    hide_message(message_id=UUID(str(message_id)), by=SuperAdminFactory())


@pytest.mark.journey
def test_new_posts_are_shown_to_a_reader_at_the_top_and_replace_the_notice_of_an_empty_thread(live: Live) -> None:
    page = live.follow_alone()
    notice, contents = page.get_by_role("heading", name="No posts yet"), page.locator("article .content")
    expect(notice).to_be_visible()
    first = live.post("First")
    poll(page)
    expect(contents).to_have_text(["First"])
    expect(notice).to_have_count(0)
    second = live.post("Second")
    poll(page)
    expect(contents).to_have_text(["Second", "First"])
    expect(page.locator(".news")).to_be_hidden()
    hide(first)
    poll(page)
    expect(contents).to_have_text(["Second"])
    hide(second)
    poll(page)
    expect(notice).to_be_visible()


def test_scrolled_reader_gets_a_button_and_the_posts_do_not_move(live: Live) -> None:
    posts = many(live)
    page = live.follow_alone()
    frame = panel_frame(page)
    frame.evaluate(SCROLL_TO, 500)
    before = frame.evaluate(TOP_OF, "Post 9")
    live.post("Fresh")
    live.post("A reply", parentId=str(posts[14].pk))
    hide(posts[13].pk)
    poll(page)
    expect(page.get_by_role("button", name="1 new post")).to_be_visible()
    expect(page.locator("article.reply")).to_have_count(1)
    expect(page.locator("article", has_text="Post 13")).to_have_count(0)
    assert abs(frame.evaluate(TOP_OF, "Post 9") - before) <= 1
    page.get_by_role("button", name="1 new post").click()
    expect(page.locator("article").first).to_contain_text("Fresh")
    expect(page.locator(".news")).to_be_hidden()
    assert frame.evaluate(SCROLLED) == 0


def test_new_posts_are_announced_once_and_ones_own_are_shown_once_without(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    live.message(content="First")
    page = live.follow_alone()
    write(page, "Mine")
    expect(page.locator("article")).to_have_count(2)
    live.post("Second")
    live.post("Third")
    live.post("My own, from another device", by=ada)
    poll(page)
    expect(page.locator("article")).to_have_count(5)
    expect(page.locator("article", has_text="Mine")).to_have_count(1)
    page.clock.fast_forward(1_000)
    expect(page.locator(".thread > [role=status]")).to_have_text("2 new posts")


def test_replies_are_shown_in_an_open_list_counted_in_a_closed_one_and_reactions_are_counted(live: Live) -> None:
    opened, closed, whole = (live.message(content=text) for text in ("Opened", "Closed", "Whole"))
    for post in (opened, closed):
        live.message(content="Reply one", parent=post)
        live.message(content="Reply two", parent=post)
    only = live.message(content="Only reply", parent=whole)
    page = live.follow_alone()
    open_post, closed_post, whole_post = (post_of(page, post) for post in (opened, closed, whole))
    open_post.get_by_role("button", name="Show 1 more reply").click()
    expect(open_post.locator("article.reply")).to_have_count(2)
    for post in (opened, closed):
        live.post("Reply three", parentId=str(post.pk))
    live.post("Leaf", parentId=str(only.pk))
    live.post("Last reply", parentId=str(whole.pk))
    for _ in range(2):
        live.reaction(whole, "🎉")
    poll(page)
    expect(open_post.locator("article.reply .content")).to_have_text(["Reply one", "Reply two", "Reply three"])
    expect(whole_post.locator("article.reply .content")).to_have_text(["Only reply", "Leaf", "Last reply"])
    expect(post_of(page, only).locator("article.reply .content")).to_have_text(["Leaf"])
    expect(page.locator(".chip")).to_have_text(["🎉2"])
    page.clock.fast_forward(1_000)
    expect(closed_post.get_by_role("button", name="Show 2 more replies")).to_be_visible()
    expect(closed_post.locator("article.reply")).to_have_count(1)


def test_own_reaction_in_another_window_is_pressed_in_this_one(live: Live, ada: Account) -> None:
    live.reaction(live.message(content="Root"), "🎉")
    live.signed_in(ada)
    page = live.follow_alone()
    other = live.open_alone()
    other.locator("[data-live=poll]").wait_for()
    other.locator(".chip").click()
    expect(other.locator(".chip")).to_have_attribute("aria-pressed", "true")
    poll(page)
    expect(page.locator(".chip")).to_have_text("🎉2")
    expect(page.locator(".chip")).to_have_attribute("aria-pressed", "true")
    page.locator(".chip").click()
    expect(page.locator(".chip")).to_have_text("🎉1")
    poll(other)
    expect(other.locator(".chip")).to_have_attribute("aria-pressed", "false")


def test_hidden_posts_disappear_with_their_replies_and_return_to_their_places_as_approved_ones_do(live: Live) -> None:
    live.message(content="First")
    pending = live.message(content="Pending", status="pending")
    second = live.message(content="Second")
    live.message(content="Third")
    live.message(content="Reply", parent=second)
    live.message(content="Look", quote=second)
    page = live.follow_alone()
    top = page.locator(f"{TOP_LEVEL} > .body .content")
    expect(page.locator("article.reply")).to_have_count(1)
    hide(second.pk)
    poll(page)
    expect(top).to_have_text(["Look", "Third", "First"])
    expect(page.locator("article.reply")).to_have_count(0)
    expect(page.locator(".gone")).to_have_text("The quoted post is no longer available.")
    restore_message(message_id=second.pk, by=SuperAdminFactory())
    approve_message(message_id=pending.pk, by=SuperAdminFactory())
    poll(page)
    expect(top).to_have_text(["Look", "Third", "Second", "Pending", "First"])
    expect(page.locator("blockquote.quote")).to_contain_text("Second")


def test_list_of_hidden_posts_is_replaced_by_the_older_ones(live: Live) -> None:
    posts = live.messages(21)
    page = live.follow_alone()
    expect(page.locator("article")).to_have_count(20)
    for post in posts[1:]:
        hide(post.pk)
    poll(page)
    expect(page.locator("article .content")).to_have_text(["Post 0"])
    expect(page.get_by_role("heading", name="No posts yet")).to_have_count(0)


def test_changes_of_offered_posts_are_shown_with_them(live: Live) -> None:
    quoted = many(live)[0]
    page = live.follow_alone()
    panel_frame(page).evaluate(SCROLL_TO, 500)
    offered = live.post("Fresh", quoteId=str(quoted.pk))
    hidden = live.post("Goes")
    poll(page)
    expect(page.get_by_role("button", name="2 new posts")).to_be_visible()
    hide(hidden)
    hide(quoted.pk)
    live.reaction(Message.objects.get(pk=offered), "🎉")
    live.post("Reply one", parentId=offered)
    with page.expect_response(f"**/api/messages/{offered}?*"):
        poll(page)
        expect(page.get_by_role("button", name="1 new post")).to_be_visible()
        page.clock.fast_forward(4_000)
    page.get_by_role("button", name="1 new post").click()
    fresh = page.locator("article").first
    expect(fresh.locator(".content")).to_have_text("Fresh")
    expect(fresh.locator(".chip")).to_have_text("🎉1")
    expect(fresh.locator(".gone")).to_have_text("The quoted post is no longer available.")
    expect(fresh.get_by_role("button", name="Show 1 reply")).to_be_visible()
    expect(page.locator("article", has_text="Goes")).to_have_count(0)
    live.post("Reply two", parentId=offered)
    poll(page)
    page.clock.fast_forward(4_000)
    fresh.get_by_role("button", name="Show 2 replies").click()
    expect(fresh.locator("article.reply .content")).to_have_text(["Reply one", "Reply two"])


def test_posts_of_another_kind_are_not_shown(live: Live) -> None:
    live.message(content="Machine", author=AgentAccountFactory())
    page, panel = live.follow()
    panel.get_by_label("Show posts by").select_option("Agents")
    expect(panel.locator("article")).to_have_count(1)
    live.post("Of a person")
    live.message(content="Of a machine", author=AgentAccountFactory())
    poll(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Talk").click()
    expect(panel.locator("article .content")).to_have_text(["Of a machine", "Machine"])


def test_typing_is_not_disturbed_and_selected_text_stays_selected(live: Live, ada: Account) -> None:
    posts = many(live)
    live.signed_in(ada)
    page = live.follow_alone()
    frame, post = panel_frame(page), page.locator("article", has_text="Post 12")
    post.get_by_role("button", name="Reply").click()
    page.keyboard.type("Half a sen")
    page.keyboard.press("ArrowLeft")
    area = post.locator("textarea")
    before = area.bounding_box()
    live.post("Fresh")
    live.post("A reply", parentId=str(posts[13].pk))
    live.reaction(posts[12], "🎉")
    live.reaction(posts[14], "🎉")
    poll(page)
    expect(page.locator(".chip")).to_have_count(2)
    expect(page.get_by_role("button", name="1 new post")).to_be_visible()
    assert frame.evaluate(CARET) == ["TEXTAREA", "Half a sen", 9]
    after = area.bounding_box()
    assert before
    assert after
    assert abs(before["y"] - after["y"]) <= 1
    page.keyboard.type("X")
    expect(area).to_have_value("Half a seXn")
    post.locator("> .body > .said .content p").first.dblclick()
    selected = frame.evaluate(SELECTED)
    assert selected
    live.post("Fresher")
    poll(page)
    expect(page.get_by_role("button", name=re.compile("2 new posts"))).to_be_visible()
    assert frame.evaluate(SELECTED) == selected


def test_hidden_post_loses_its_content_but_not_the_reply_being_written_and_the_focus_moves_on(
    live: Live, ada: Account
) -> None:
    post, above = live.message(content="Insult"), live.message(content="Above")
    live.signed_in(ada)
    page = live.follow_alone()
    insult = post_of(page, post)
    insult.get_by_role("button", name="Reply").click()
    page.keyboard.type("That is")
    hide(post.pk)
    poll(page)
    expect(insult).not_to_contain_text("Insult")
    expect(insult.locator(".gone")).to_have_text(words("en")["error"]["message_not_found"])
    assert panel_frame(page).evaluate(CARET) == ["TEXTAREA", "That is", 7]
    expect(post_of(page, above).locator(".content")).to_have_text("Above")
    restore_message(message_id=post.pk, by=SuperAdminFactory())
    poll(page)
    expect(insult.locator(".content")).to_have_text("Insult")
    expect(insult.locator("textarea")).to_have_value("That is")
    # The post with the focus is hidden.
    post_of(page, above).get_by_role("button", name="Reply").focus()
    hide(above.pk)
    poll(page)
    expect(page.locator("article")).to_have_count(1)
    expect(insult).to_be_focused()


def test_more_new_posts_than_the_panel_stores_leave_no_gap(live: Live) -> None:
    many(live)
    page = live.follow_alone()
    panel_frame(page).evaluate(SCROLL_TO, 500)
    author = PersonFactory()
    for n in range(55):
        live.post(f"Burst {n}", by=author)
    poll(page)
    page.get_by_role("button", name="50 new posts").click()
    expect(page.locator("article")).to_have_count(20)
    expect(page.locator("article").first).to_contain_text("Burst 54")
    page.get_by_role("button", name="Show more posts").click()
    expect(page.locator("article")).to_have_count(40)


def delete(message: Message) -> None:
    assert Api.as_person(message.author).delete(f"/api/messages/{message.pk}").status == 200


def test_posts_are_edited_and_deleted_in_their_places_below_a_reply_that_is_being_written(live: Live) -> None:
    edited, alone = live.message(content="Before"), live.message(content="Deleted alone")
    answered, writing = live.message(content="Secret"), live.message(content="Another secret")
    replies = [live.message(content="An answer", parent=each) for each in (answered, writing)]
    live.message(content="Newer")
    page = live.follow_alone()
    tombstones = [post_of(page, each) for each in (answered, writing)]
    tombstones[1].get_by_role("button", name="Reply").first.click()
    page.keyboard.type("Half a sen")
    page.keyboard.press("ArrowLeft")
    assert Api.as_person(edited.author).put(f"/api/messages/{edited.pk}", {"content": "After"}).status == 200
    for message in (alone, answered, writing):
        delete(message)
    poll(page)
    for tombstone in tombstones:
        expect(tombstone.locator("> header .name")).to_have_text(DELETED)
    expect(tombstones[0].locator("> .body button")).to_have_count(0)
    expect(tombstones[1].locator("textarea")).to_be_focused()
    page.keyboard.type("X")
    expect(tombstones[1].locator("textarea")).to_have_value("Half a seXn")
    for reply in replies:
        expect(post_of(page, reply).locator(".content")).to_have_text("An answer")
    expect(page.locator(".thread > .list > article > .body > .said .content")).to_contain_text(["Newer", "After"])
    expect(post_of(page, alone)).to_have_count(0)
    expect(page.locator(".news")).to_be_hidden()
    expect(page.get_by_text("secret")).to_have_count(0)
    expect(page.get_by_text(f"@{answered.author.handle}", exact=True)).to_have_count(0)
    assert live.errors == []


def test_tombstones_are_shown_when_the_panel_opens_and_what_is_below_them_can_be_opened(live: Live) -> None:
    message, root = live.message(content="Secret"), live.message(content="A post")
    live.message(content="An answer", parent=message)
    quote = live.message(content="A quote", quote=message)
    reply = live.message(content="Secret reply", parent=root)
    last = live.message(content="Another answer", parent=reply)
    delete(message)
    delete(reply)
    _, panel = live.open()
    expect(post_of(panel, message).locator("> header .name")).to_have_text(DELETED)
    expect(post_of(panel, quote).locator(".gone")).to_have_text(words("en")["panel"]["quote_gone"])
    post_of(panel, root).locator("button.more").click()
    expect(post_of(panel, reply).locator("> header .name")).to_have_text(DELETED)
    expect(post_of(panel, last).locator(".content")).to_have_text("Another answer")
    assert live.errors == []
