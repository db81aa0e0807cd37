"""What only the reader sees in the panel: own reactions after a reload, and own posts that await review."""

from __future__ import annotations

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from embeds.widget.locales import words
from kernel.api.credentials import Credential, CredentialKind
from kernel.writes.transaction import write_transaction
from messaging.models import Account, Message
from messaging.moderation.services import approve_message, hide_message
from reactions.models import Reaction
from reactions.services import set_reaction
from tests.api import Api
from tests.factories import PersonFactory, SuperAdminFactory
from tests.widget.live import Live, reopen
from tests.widget.test_panel_actions import choose, delete, items

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
AWAITING = words("en")["panel"]["awaiting"]
COLLECT_EVENTS = "window.beacons = []; navigator.sendBeacon = (url, body) => beacons.push(body);"
EVENTS = "Promise.all(beacons.map((body) => new Response(body).json()))"


def react(account: Account, message: Message, emoji: str) -> None:
    auth = Credential(kind=CredentialKind.PERSON, user=account)
    with write_transaction() as transaction:
        set_reaction(auth=auth, transaction=transaction, message_id=message.pk, emoji=emoji)


def write(panel: FrameLocator | Page, text: str) -> None:
    panel.get_by_label("Write a post…").fill(text)
    panel.locator("#write").get_by_role("button", name="Post").click()


def test_own_reactions_are_pressed_in_replies_too_after_a_late_response_and_a_reload(live: Live, ada: Account) -> None:
    post = live.message()
    live.reaction(post, "👍")
    react(ada, post, "🎉")
    react(ada, live.message(parent=post), "🎉")
    live.signed_in(ada)
    late = live.intercept("/v1/me/reactions?*")
    page = live.open_alone()
    thumb, of_reply = page.locator(".chip", has_text="👍"), page.locator("article.reply .chip")
    route = live.wait_for_first(late)
    response = route.fetch()
    thumb.click()
    expect(thumb).to_have_text("👍2")
    route.fulfill(response=response)
    expect(of_reply).to_have_attribute("aria-pressed", "true")
    # The late response undoes no press.
    expect(page.locator(".chip")).to_have_text(["👍2", "🎉1"])
    expect(thumb).to_have_attribute("aria-pressed", "true")
    live.context.unroute(f"{live.app}/v1/me/reactions?*")
    page.reload()
    expect(thumb).to_have_attribute("aria-pressed", "true")
    thumb.click()
    expect(thumb).to_have_attribute("aria-pressed", "false")
    expect(thumb).to_have_text("👍1")
    expect(of_reply).to_have_attribute("aria-pressed", "true")
    assert [reaction.emoji for reaction in Reaction.objects.filter(account=ada)] == ["🎉"]


def test_press_of_a_reaction_that_is_set_already_neither_removes_nor_counts_it(live: Live, ada: Account) -> None:
    """Own reactions could not be loaded, so the chip looks unpressed. Removed and set again, it is counted."""
    post = live.message()
    live.reaction(post, "👍")
    react(ada, post, "👍")
    live.context.add_init_script(COLLECT_EVENTS)
    live.context.route("**/v1/me/reactions?*", lambda route: route.fulfill(status=503, json={"error": "x"}))
    live.signed_in(ada)
    page = live.open_alone()
    for pressed, counted in (("true", 0), ("false", 0), ("true", 1)):
        page.locator(".chip").click()
        expect(page.locator(".chip")).to_have_attribute("aria-pressed", pressed)
        assert Reaction.objects.filter(message=post, account=ada).exists() is (pressed == "true")
        events = page.evaluate(EVENTS)
        assert [event["event"] for event in events].count("reaction_added") == counted


@pytest.mark.journey
def test_pending_post_stays_visible_to_its_author_alone(live: Live, ada: Account) -> None:
    live.moderate()
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


def test_author_edits_and_removes_pending_posts_also_ones_rejected_or_deleted_elsewhere(
    live: Live, ada: Account
) -> None:
    live.moderate()
    live.signed_in(ada)
    page = live.open_alone()
    articles = page.locator("article")
    for count, text in enumerate(("Rejected", "Deleted elsewhere", "Please look at this", "Stays"), 1):
        write(page, text)
        expect(articles).to_have_count(count)
    rejected, deleted, looked_at, stays = Message.objects.order_by("created_at")
    hide_message(message_id=rejected.pk, by=SuperAdminFactory())
    assert Api.as_person(ada).delete(f"/api/messages/{deleted.pk}").status == 200
    edited = articles.filter(has_text="Please look at th")
    choose(edited, "edit")
    edited.locator("textarea").fill("Please look at that")
    edited.get_by_role("button", name="Save").click()
    expect(edited.locator(".content")).to_have_text("Please look at that")
    expect(edited.locator(".review")).to_be_visible()
    page.reload()
    expect(edited.locator(".content")).to_have_text("Please look at that")
    for text in ("Please look at that", "Rejected", "Deleted elsewhere"):
        delete(articles.filter(has_text=text))
        expect(articles.filter(has_text=text)).to_have_count(0)
    expect(page.locator("#toast")).to_have_text(words("en")["panel"]["post_deleted"])
    page.reload()
    expect(page.locator("article .content")).to_have_text(["Stays"])
    statuses = dict(Message.objects.values_list("pk", "status"))
    assert (statuses[looked_at.pk], statuses[stays.pk]) == ("deleted", "pending")


def test_approved_post_becomes_an_ordinary_one(live: Live, ada: Account) -> None:
    live.moderate()
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


def test_pending_posts_and_replies_are_in_their_places_after_a_reload_and_approved_ones_shown_once(
    live: Live, ada: Account
) -> None:
    live.moderate()
    live.message(content="Root", community=live.embed.community)
    live.signed_in(ada)
    page = live.open_alone()
    page.get_by_role("button", name="Reply").click()
    page.get_by_label("Reply to").fill("My reply")
    page.locator("article form").get_by_role("button", name="Reply").click()
    reply, top = page.locator("article.reply"), page.locator(".thread > .list > article > .body > .said .content")
    expect(reply.locator(".review")).to_be_visible()
    write(page, "Please look at this")
    expect(page.locator(".review:visible")).to_have_count(2)
    page.reload()
    expect(reply).to_contain_text("My reply")
    expect(reply.locator(".review")).to_be_visible()
    expect(top).to_have_text(["Please look at this", "Root"])
    approve_message(message_id=Message.objects.get(content="Please look at this").pk, by=SuperAdminFactory())
    live.message(content="Newer", author=PersonFactory())
    page.reload()
    expect(top).to_have_text(["Newer", "Please look at this", "Root"])
    # The reply still waits.
    expect(page.locator(".review:visible")).to_have_count(1)
    expect(reply.locator(".review")).to_be_visible()
