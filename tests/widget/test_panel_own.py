"""What only the reader sees in the panel: own reactions after a reload, and own posts that await review."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import FrameLocator, expect

from config.api.credentials import Credential, CredentialKind
from config.writes.transaction import write_transaction
from embeds.widget.locales import words
from messaging.models import Account, Message
from messaging.services.moderation import approve_message, hide_message
from reactions.models import Reaction
from reactions.services import set_reaction
from tests.api import Api
from tests.factories import PersonFactory, SuperAdminFactory
from tests.widget.live import Live, panel_frame, reopen
from tests.widget.test_panel_actions import choose, items

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
AWAITING = words("en")["panel"]["awaiting"]
COLLECT_EVENTS = "window.beacons = []; navigator.sendBeacon = (url, body) => beacons.push(body);"
EVENTS = "Promise.all(beacons.map((body) => new Response(body).json()))"


def react(account: Account, message: Message, emoji: str) -> None:
    auth = Credential(kind=CredentialKind.PERSON, user=account)
    with write_transaction() as transaction:
        set_reaction(auth=auth, transaction=transaction, message_id=message.pk, emoji=emoji)


def write(panel: FrameLocator, text: str) -> None:
    panel.get_by_label("Write a post…").fill(text)
    panel.locator("#write").get_by_role("button", name="Post").click()


def test_own_reaction_is_pressed_after_a_reload_and_a_press_removes_it(live: Live, ada: Account) -> None:
    post = live.message()
    live.reaction(post, "👍")
    live.signed_in(ada)
    page, panel = live.open()
    chip = panel.locator(".chip")
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    reopen(page)
    expect(chip).to_have_attribute("aria-pressed", "true")
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "false")
    expect(chip).to_have_text("👍1")


def test_own_reactions_to_replies_are_pressed_too(live: Live, ada: Account) -> None:
    reply = live.message(parent=live.message())
    react(ada, reply, "🎉")
    live.signed_in(ada)
    _, panel = live.open()
    expect(panel.locator("article.reply .chip")).to_have_attribute("aria-pressed", "true")


def test_press_of_an_unpressed_emoji_never_removes_the_reaction(live: Live, ada: Account) -> None:
    """Own reactions could not be loaded, so the chip looks unpressed."""
    post = live.message()
    react(ada, post, "👍")
    live.context.route("**/v1/me/reactions?*", lambda route: route.fulfill(status=503, json={"error": "x"}))
    live.signed_in(ada)
    _, panel = live.open()
    chip = panel.locator(".chip")
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    assert Reaction.objects.filter(message=post, account=ada).exists()


def test_press_of_a_reaction_that_is_set_already_is_not_counted(live: Live, ada: Account) -> None:
    """Own reactions could not be loaded. Removed and set again, it is counted."""
    post = live.message()
    live.reaction(post, "👍")
    react(ada, post, "👍")
    live.context.add_init_script(COLLECT_EVENTS)
    live.context.route("**/v1/me/reactions?*", lambda route: route.fulfill(status=503, json={"error": "x"}))
    live.signed_in(ada)
    page, panel = live.open()
    for pressed, counted in (("true", 0), ("false", 0), ("true", 1)):
        panel.locator(".chip").click()
        expect(panel.locator(".chip")).to_have_attribute("aria-pressed", pressed)
        events = panel_frame(page).evaluate(EVENTS)
        assert [event["event"] for event in events].count("reaction_added") == counted


def test_late_own_reactions_undo_no_press(live: Live, ada: Account) -> None:
    post = live.message()
    live.reaction(post, "👍")
    react(ada, post, "🎉")
    live.signed_in(ada)
    late = live.intercept("/v1/me/reactions?*")
    _, panel = live.open()
    route = live.wait_for_first(late)
    response = route.fetch()
    panel.locator(".chip", has_text="👍").click()
    expect(panel.locator(".chip")).to_have_text(["👍2"])
    route.fulfill(response=response)
    expect(panel.locator(".chip")).to_have_attribute("aria-pressed", "true")


def test_signing_out_shows_no_reaction_as_own(live: Live, ada: Account) -> None:
    react(ada, live.message(), "👍")
    live.signed_in(ada)
    _, panel = live.open()
    chip = panel.locator(".chip")
    expect(chip).to_have_attribute("aria-pressed", "true")
    panel.get_by_role("button", name="Sign out").click()
    expect(chip).to_have_attribute("aria-pressed", "false")


@pytest.fixture
def moderated(live: Live) -> None:
    community = live.embed.community
    community.pre_moderation = "everyone"
    community.save()


@pytest.mark.journey
@pytest.mark.usefixtures("moderated")
def test_pending_post_stays_visible_to_its_author_alone(live: Live, ada: Account, browser: Any) -> None:
    live.message(content="From before")
    live.signed_in(ada)
    page, panel = live.open()
    write(panel, "Please look at this")
    expect(panel.locator("#toast")).to_have_text(words("en")["panel"]["pending"])
    pending = panel.locator("article", has_text="Please look at this")
    expect(pending.locator(".review")).to_contain_text(AWAITING)
    expect(pending.get_by_role("button")).to_have_count(1)
    assert items(pending) == ["Edit", "Delete"]
    reopen(page)
    expect(panel.locator("article .content")).to_have_text(["Please look at this", "From before"])
    expect(pending.locator(".review")).to_contain_text(AWAITING)
    panel.get_by_role("button", name="Sign out").click()
    expect(panel.locator("article .content")).to_have_text(["From before"])


@pytest.mark.usefixtures("moderated")
def test_author_edits_and_deletes_a_pending_post(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    page, panel = live.open()
    write(panel, "Please look at this")
    pending = panel.locator("article")
    choose(pending, "edit")
    pending.locator("textarea").fill("Please look at that")
    pending.get_by_role("button", name="Save").click()
    expect(pending.locator(".content")).to_have_text("Please look at that")
    expect(pending.locator(".review")).to_be_visible()
    reopen(page)
    expect(pending.locator(".content")).to_have_text("Please look at that")
    choose(pending, "delete")
    pending.locator("form").get_by_role("button", name="Delete").click()
    expect(panel.locator("#toast")).to_have_text(words("en")["panel"]["post_deleted"])
    expect(pending).to_have_count(0)
    reopen(page)
    expect(panel.locator(".notice")).not_to_be_empty()
    expect(pending).to_have_count(0)
    assert Message.objects.get().status == "deleted"


@pytest.mark.usefixtures("moderated")
def test_author_removes_pending_posts_that_were_rejected_or_deleted_elsewhere(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    page, panel = live.open()
    pending = panel.locator("article")
    for count, text in enumerate(("First", "Second"), 1):
        write(panel, text)
        expect(pending).to_have_count(count)
    rejected, deleted = Message.objects.order_by("created_at")
    hide_message(message_id=rejected.pk, by=SuperAdminFactory())
    assert Api.as_person(ada).delete(f"/api/messages/{deleted.pk}").status == 200
    reopen(page)
    for count in (1, 0):
        choose(pending.first, "delete")
        pending.first.locator("form").get_by_role("button", name="Delete").click()
        expect(pending).to_have_count(count)
    reopen(page)
    expect(panel.locator(".notice")).not_to_be_empty()
    expect(pending).to_have_count(0)


@pytest.mark.usefixtures("moderated")
def test_pending_reply_is_shown_in_its_place_also_after_a_reload(live: Live, ada: Account) -> None:
    live.message(content="Root", community=live.embed.community)
    live.signed_in(ada)
    page, panel = live.open()
    panel.get_by_role("button", name="Reply").click()
    panel.get_by_label("Reply to").fill("My reply")
    panel.locator("article form").get_by_role("button", name="Reply").click()
    reply = panel.locator("article.reply")
    expect(reply).to_contain_text("My reply")
    expect(reply.locator(".review")).to_be_visible()
    reopen(page)
    expect(reply).to_contain_text("My reply")
    expect(reply.locator(".review")).to_be_visible()


@pytest.mark.usefixtures("moderated")
def test_approved_post_becomes_an_ordinary_one(live: Live, ada: Account) -> None:
    live.context.clock.install()
    live.signed_in(ada)
    page, panel = live.follow()
    write(panel, "Please look at this")
    expect(panel.locator(".review")).to_be_visible()
    approve_message(message_id=Message.objects.get().pk, by=SuperAdminFactory())
    page.clock.fast_forward(46_000)
    expect(panel.locator("article .review")).to_be_hidden()
    expect(panel.locator("article").get_by_role("button", name="Reply")).to_be_visible()
    assert panel.locator("article").count() == 1


@pytest.mark.usefixtures("moderated")
def test_post_that_was_approved_meanwhile_is_shown_once_after_a_reload(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    page, panel = live.open()
    write(panel, "Please look at this")
    expect(panel.locator(".review")).to_be_visible()
    approve_message(message_id=Message.objects.get().pk, by=SuperAdminFactory())
    live.message(content="Newer", author=PersonFactory())
    reopen(page)
    expect(panel.locator("article .content")).to_have_text(["Newer", "Please look at this"])
    expect(panel.locator("article .review").last).to_be_hidden()
