"""The menu of a post: copy its link, edit, delete and report it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from embeds.widget.locales import words
from messaging.models import Account, Message, Report
from tests.api import Api
from tests.factories import PersonFactory
from tests.widget.clock import poll
from tests.widget.live import Live, reopen
from tests.widget.test_accessibility import violations_of_state

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WORDS = words("en")["panel"]
ERRORS = words("en")["error"]
STORED = "localStorage.length"


def post_of(panel: FrameLocator | Page, message: Message) -> Locator:
    return panel.locator(f"#community-post-{message.pk}")


def link_of(message: Message) -> re.Pattern[str]:
    """Its permalink; the service has read BASE_URL before the test has set another."""
    return re.compile(rf"^http://127\.0\.0\.1:\d+/p/{message.pk}$")


def choose(post: Locator, item: str) -> None:
    post.locator("> header .menu > button").click()
    post.get_by_role("menuitem", name=WORDS[item]).click()


def delete(post: Locator) -> None:
    choose(post, "delete")
    post.locator("form").get_by_role("button", name="Delete").click()


def items(post: Locator) -> list[str]:
    post.locator("> header .menu > button").click()
    shown = post.get_by_role("menuitem").all_inner_texts()
    post.page.keyboard.press("Escape")
    return shown


def test_the_menu_offers_what_the_reader_may_do_has_the_keys_of_a_menu_and_copies_the_link(
    live: Live, ada: Account, settings: Any
) -> None:
    own, other = live.message(author=ada, content="Mine"), live.message(content="Theirs")
    answered = live.message(author=ada, content="Gone")
    reply = live.message(parent=answered)
    Api.as_person(ada).delete(f"/api/messages/{answered.pk}")
    signed_out = live.open_alone()
    assert items(post_of(signed_out, own)) == ["Copy link", "Report"]
    for shown in (own, reply):
        link = post_of(signed_out, shown).locator("> header .meta > a")
        expect(link).to_have_attribute("href", link_of(shown))
        expect(link.locator("time")).to_have_count(1)
    live.signed_in(ada)
    page, panel = live.open()
    assert items(post_of(panel, own)) == ["Copy link", "Edit", "Delete"]
    assert items(post_of(panel, other)) == ["Copy link", "Report"]
    expect(post_of(panel, answered).locator("> header .menu")).to_have_count(0)
    button = post_of(panel, own).locator("> header .menu > button")
    button.focus()
    page.keyboard.press("ArrowDown")
    item = panel.locator("[role=menuitem]:focus")
    for key, name in (("ArrowDown", "Edit"), ("End", "Delete"), ("ArrowDown", "Copy link"), ("ArrowUp", "Delete")):
        page.keyboard.press(key)
        expect(item).to_have_text(name)
    assert violations_of_state(page) == []
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "false")
    expect(page.locator("dialog")).to_be_visible()
    button.click()
    panel.locator("h1").click()
    expect(panel.get_by_role("menu")).to_have_count(0)
    live.context.grant_permissions(["clipboard-read", "clipboard-write"])
    choose(post_of(panel, other), "copy_link")
    expect(panel.locator("#toast")).to_have_text(WORDS["link_copied"])
    page.bring_to_front()
    # The checks of axe have left a small screen, on which the panel has all of it.
    page.set_viewport_size({"width": 1200, "height": 800})
    page.locator("h1").click()
    assert link_of(other).search(page.evaluate("navigator.clipboard.readText()"))
    # After the time for edits.
    settings.EDIT_MINUTES = 0
    assert items(post_of(live.open_alone(), own)) == ["Copy link", "Delete"]
    assert live.errors == []


@pytest.mark.journey
def test_an_edit_a_deletion_and_a_report_are_seen_in_another_window_at_once(live: Live, ada: Account) -> None:
    live.context.clock.install()
    message = live.message(author=ada, content="Teh text")
    answered = live.message(author=ada, content="Answered")
    live.message(parent=answered, content="An answer")
    live.rule(reports_to_hide=1)
    rude = live.message(content="Rude")
    bystander = live.message(author=ada, content="Stays")
    reader, readers_panel = live.follow()
    live.signed_in(ada)
    page, panel = live.follow()
    post = post_of(panel, message)
    choose(post, "edit")
    area = post.locator("textarea")
    expect(area).to_be_focused()
    expect(area).to_have_value("Teh text")
    page.keyboard.press("Escape")
    expect(post.locator(".content")).to_be_visible()
    expect(post.locator("> header .menu > button")).to_be_focused()
    choose(post, "edit")
    area.fill("The text")
    assert violations_of_state(page) == []
    post.get_by_role("button", name="Save").click()
    expect(post.locator(".content")).to_have_text("The text")
    expect(panel.locator("#toast")).to_have_text(WORDS["saved"])
    edited = post.locator("> header").get_by_text(WORDS["edited"])
    assert str(message.created_at.year) in (edited.get_attribute("title") or "")
    poll(reader)
    expect(post_of(readers_panel, message).locator(".content")).to_have_text("The text")
    expect(post_of(readers_panel, message).locator("> header")).to_contain_text(WORDS["edited"])

    choose(post_of(panel, answered), "delete")
    form = post_of(panel, answered).locator("form")
    expect(form).to_contain_text(WORDS["delete_question"])
    expect(form.get_by_role("button", name="Delete")).to_be_focused()
    assert violations_of_state(page) == []
    page.keyboard.press("Enter")
    expect(panel.locator("#toast")).to_have_text(WORDS["post_deleted"])
    expect(post_of(panel, answered).locator("> header .name")).to_have_text(WORDS["deleted"])
    expect(post_of(panel, answered)).to_be_focused()
    delete(post)
    expect(post).to_have_count(0)
    # One report puts this post back to review.
    Api.as_person(PersonFactory()).post(f"/api/messages/{rude.pk}/report", {"reason": "abuse"})
    poll(reader)
    for gone in (message, rude):
        expect(post_of(readers_panel, gone)).to_have_count(0)
    expect(post_of(readers_panel, answered).locator("> header .name")).to_have_text(WORDS["deleted"])
    expect(readers_panel.locator("article .content")).to_have_text(["Stays", "An answer"])
    bystander.refresh_from_db()
    assert (bystander.status, bystander.content) == ("published", "Stays")
    assert live.errors == []


def test_a_failed_edit_says_why_and_the_text_stays(live: Live, ada: Account) -> None:
    live.rule(blocked_words=["forbidden"])
    message = live.message(author=ada, content="Before")
    live.signed_in(ada)
    page, panel = live.open()
    post = post_of(panel, message)
    choose(post, "edit")
    area, path = post.locator("textarea"), f"/api/messages/{message.pk}"
    area.fill("A forbidden word")
    save, problem = post.get_by_role("button", name="Save"), post.locator("form .problem")
    save.click()
    expect(problem).to_have_text(ERRORS["content_blocked"])
    saving = live.intercept(path)
    save.click()
    late = live.wait_for_first(saving)
    expect(area).not_to_be_editable()
    late.fulfill(status=503, json={"error": "temporarily_unavailable"})
    expect(problem).to_have_text(ERRORS["temporarily_unavailable"])
    expect(area).to_be_editable()
    refusals: list[tuple[int, dict[str, Any], str]] = [
        (409, {"error": "edit_window_closed", "max": 15}, ERRORS["edit_window_closed"]["other"].format(n=15)),
        (409, {"error": "too_many_edits", "max": 20}, ERRORS["too_many_edits"]["other"].format(n=20)),
        (403, {"error": "not_author"}, ERRORS["not_author"]),
        (404, {"error": "message_not_found"}, ERRORS["message_not_found"]),
    ]
    for status, body, text in refusals:
        live.respond(path, status, body)
        save.click()
        expect(problem).to_have_text(text)
    live.context.unroute(f"{live.app}{path}")
    live.context.route(f"{live.app}{path}", lambda route: route.abort())
    save.click()
    expect(problem).to_have_text(ERRORS["network"])
    expect(area).to_have_value("A forbidden word")
    live.context.unroute(f"{live.app}{path}")
    area.fill("Another word")
    save.click()
    expect(post.locator(".content")).to_have_text("Another word")
    assert page.locator("dialog").is_visible()


def test_the_text_of_an_edit_survives_an_order_and_an_action_of_the_menu_but_no_cancel(
    live: Live, ada: Account
) -> None:
    message = live.message(author=ada, content="Hello")
    live.signed_in(ada)
    panel = live.open_alone()
    post = post_of(panel, message)
    area, cancel = post.get_by_label(WORDS["edit"]), post.get_by_role("button", name=WORDS["cancel"])
    choose(post, "edit")
    area.fill("Hello, long thoughts")
    panel.locator("#sort").select_option("oldest")
    expect(area).to_have_count(0)
    choose(post, "edit")
    expect(area).to_have_value("Hello, long thoughts")
    choose(post, "delete")
    expect(area).to_have_count(0)
    cancel.click()
    for _ in range(2):
        choose(post, "edit")
        expect(area).to_have_value("Hello, long thoughts")
    cancel.click()
    choose(post, "edit")
    expect(area).to_have_value("Hello")
    area.fill("Half a thought")
    area.press("Escape")
    choose(post, "edit")
    expect(area).to_have_value("Hello")
    area.fill("Hello again")
    post.get_by_role("button", name=WORDS["save"]).click()
    expect(post.locator(".content")).to_have_text("Hello again")
    # Only the order is stored.
    assert panel.evaluate(STORED) == 1
    choose(post, "edit")
    area.fill("Goodbye")
    choose(post, "delete")
    assert panel.evaluate(STORED) == 2
    post.locator("form").get_by_role("button", name="Delete").click()
    expect(post).to_have_count(0)
    assert panel.evaluate(STORED) == 1


def test_an_edit_that_waits_for_approval_stays_visible_to_its_author(live: Live, ada: Account) -> None:
    live.context.clock.install()
    live.moderate()
    message = live.message(author=ada, content="Before")
    live.signed_in(ada)
    page, panel = live.follow()
    post = post_of(panel, message)
    choose(post, "edit")
    post.locator("textarea").fill("After")
    post.get_by_role("button", name="Save").click()
    expect(panel.locator("#toast")).to_have_text(WORDS["pending"])
    expect(post.locator(".review")).to_contain_text(WORDS["awaiting"])
    poll(page)
    expect(post.locator(".content")).to_have_text("After")
    expect(post.locator("> header a")).not_to_have_attribute("href", link_of(message))
    assert items(post) == ["Edit", "Delete"]
    delete(post)
    expect(post).to_have_count(0)
    reopen(page)
    expect(panel.locator("article")).to_have_count(0)


def test_a_report_has_a_reason_and_a_note_and_is_confirmed(live: Live, ada: Account) -> None:
    message = live.message(content="Buy now")
    live.message(content="Not reported")
    live.signed_in(ada)
    page, panel = live.open()
    post = post_of(panel, message)
    choose(post, "report")
    form = post.locator("form")
    expect(form.get_by_role("radio").first).to_be_focused()
    assert violations_of_state(page) == []
    send = form.get_by_role("button", name=WORDS["report_send"])
    send.click()
    expect(form).to_be_visible()
    assert not Report.objects.exists()
    expect(form.get_by_role("radio").first).to_be_focused()
    # By key: on a busy machine, a click beside the browser's hint (a reason is required) may have no effect.
    form.get_by_role("radio").first.press("ArrowDown")
    form.get_by_role("radio", name=WORDS["reason_abuse"]).press("ArrowDown")
    expect(form.get_by_role("radio", name=WORDS["reason_off_topic"])).to_be_checked()
    form.get_by_role("textbox").fill("About cats")
    refused = live.respond(f"/api/messages/{message.pk}/report", 503, {"error": "temporarily_unavailable"})
    send.click()
    expect(form.locator(".problem")).to_have_text(ERRORS["temporarily_unavailable"])
    assert len(refused) == 1
    live.context.unroute(f"{live.app}/api/messages/{message.pk}/report")
    send.click()
    expect(panel.locator("#toast")).to_have_text(WORDS["reported"])
    expect(form).to_have_count(0)
    stored = Report.objects.get()
    assert (stored.message, stored.reporter, stored.reason, stored.note) == (message, ada, "off_topic", "About cats")
    assert live.errors == []


def test_the_link_is_shown_selected_without_a_clipboard_and_replaces_the_form_of_an_edit(
    live: Live, ada: Account
) -> None:
    message = live.message(content="A post", author=ada)
    live.signed_in(ada)
    live.context.add_init_script("delete Navigator.prototype.clipboard")
    page, panel = live.open()
    post = post_of(panel, message)
    choose(post, "edit")
    expect(post.get_by_role("textbox", name=WORDS["edit"])).to_be_focused()
    choose(post, "copy_link")
    field = post.get_by_role("textbox", name=WORDS["copy_link"])
    expect(field).to_have_value(link_of(message))
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(post.get_by_role("textbox")).to_have_count(0)
    expect(post.locator(".content")).to_be_visible()
    expect(page.locator("dialog")).to_be_visible()
