"""The journeys of owners and moderators in a browser: with and without scripts, by keyboard, and for axe."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, expect

from embeds import page_loads
from embeds.models import DailyCount, Embed
from messaging.communities.bans import ban_account
from messaging.communities.services import create_community
from messaging.models import Account, Community, Message, Moderator
from tests.account_area.conftest import sign_in
from tests.account_area.looks import BOTH_SIZES, DESKTOP, check, check_in_turn
from tests.api import Api
from tests.browser import PATIENCE_MS
from tests.embeds.making import an_embed
from tests.factories import AgentAccountFactory, MessageFactory, PersonFactory
from tests.widget.live import panel_frame, store_session
from tests.widget.test_panel_own import COLLECT_EVENTS, write

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGES = ("", "install/?address=site.example", "look/", "pages/", "words/", "accounts/", "settings/", "delete/")
WIZARD = ("start/?new=1", "look/?new=1", "install/?new=1")
MODERATION_PAGES = ["", "?state=reported", "?state=recent", "rules/", "people/", "log/"]


@pytest.fixture
def owner(live_server: Any, browser_context: BrowserContext, settings: Any) -> Account:
    settings.APP_URL = settings.BASE_URL = live_server.url.replace("localhost", "127.0.0.1")
    settings.STREAM_URL = None
    settings.SIGHTING_SECONDS = 0
    page_loads._written.clear()
    account: Account = PersonFactory(name="Olive Owner")
    sign_in(browser_context, live_server.url, account)
    return account


def site_with(page: Page, host: str, code: str) -> str:
    """Serve the code on a page of another origin than that of the service."""
    address = f"http://site.example:{host.rpartition(':')[2]}/"
    body = f'<!doctype html><html lang="en"><title>Site</title><h1>Site</h1>{code}'
    page.context.route(f"{address}**", lambda route: route.fulfill(body=body, content_type="text/html"))
    return address


@pytest.mark.journey
@pytest.mark.parametrize("browser_context", [DESKTOP], indirect=True, ids=["desktop"])
def test_from_the_list_to_a_widget_that_is_seen(
    owner: Account, browser_context: BrowserContext, live_server: Any
) -> None:
    page = browser_context.new_page()
    page.goto("/account/sites/")
    page.get_by_role("link", name="Add a site").click()
    page.get_by_label("Name of the site", exact=True).fill("Harbour Gazette")
    page.get_by_label("Address of the site").fill(f"site.example:{live_server.url.rpartition(':')[2]}")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("How should it look?")
    trigger = page.frame_locator(".preview iframe").locator("community-embed .trigger")
    page.get_by_label("A button in the text").check()
    page.get_by_label("Button text").fill("Talk to us")
    expect(trigger).to_have_text("Talk to us")
    expect(page.frame_locator(".preview iframe").locator("#place community-embed")).to_have_count(1)
    page.get_by_role("button", name="Next: the code").click()

    expect(page.get_by_role("status")).to_contain_text("Waiting for the first visit")
    code = page.locator("#code").text_content() or ""
    assert str(Embed.objects.get(owner=owner).pk) in code
    visit = browser_context.new_page()
    visit.goto(site_with(page, live_server.url, code))
    expect(visit.locator("community-embed .trigger")).to_have_text("Talk to us")
    expect(page.get_by_role("status")).to_contain_text("We have seen your widget on http://site.example")
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Harbour Gazette")


@BOTH_SIZES
def test_the_keyboard_alone_puts_a_discussion_in_the_page_and_goes_back_without_a_loss(
    owner: Account, browser_context: BrowserContext, live_server: Any
) -> None:
    page = browser_context.new_page()
    page.goto("/account/sites/new/")
    page.get_by_label("Name of the site", exact=True).fill("Harbour Gazette")
    page.get_by_label("Address of the site").fill(f"site.example:{live_server.url.rpartition(':')[2]}")
    page.keyboard.press("Enter")

    inline = page.get_by_label("Inline: the conversation itself")
    expect(inline).to_be_checked()
    preview = page.frame_locator(".preview iframe")
    discussion = preview.frame_locator("#place community-embed iframe")
    expect(discussion.get_by_role("heading", name="No posts yet")).to_be_visible()
    for label in ("Corner", "Size", "Button text"):
        expect(page.get_by_label(label, exact=True)).to_be_hidden()
    expect(page.get_by_text("in the article, where you put the code")).to_be_visible()
    check(page, ("light",))
    inline.focus()
    page.keyboard.press("ArrowDown")
    expect(preview.locator("community-embed .trigger")).to_be_visible()
    expect(discussion.owner).to_have_count(0)
    page.get_by_label("Button text").fill("Talk to us")
    back = page.get_by_role("button", name="Back")
    back.press("Enter")

    expect(page.get_by_label("Name of the site", exact=True)).to_have_value("Harbour Gazette")
    page.get_by_label("Name of the site", exact=True).fill("Harbour News")
    page.keyboard.press("Enter")
    expect(page.get_by_label("A tab at the edge")).to_be_checked()
    expect(page.get_by_label("Button text")).to_have_value("Talk to us")
    page.get_by_label("A tab at the edge").focus()
    page.keyboard.press("ArrowUp")
    expect(inline).to_be_focused()
    expect(discussion.get_by_role("heading", name="No posts yet")).to_be_visible()
    page.keyboard.press("Enter")

    expect(page.get_by_text("into your article at the place")).to_be_visible()
    code = page.locator("#code").text_content() or ""
    assert 'data-mode="inline"' in code
    page.get_by_role("link", name="Back").press("Enter")
    expect(inline).to_be_checked()
    page.get_by_role("button", name="Next: the code").press("Enter")
    visit = browser_context.new_page()
    visit.goto(site_with(page, live_server.url, code))
    expect(visit.frame_locator("community-embed iframe").get_by_role("heading", name="No posts yet")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("We have seen your widget on http://site.example")
    assert [site.name for site in Embed.objects.filter(owner=owner)] == ["Harbour News"]


def test_the_steps_without_scripts(owner: Account, browser: Browser, live_server: Any) -> None:
    context = browser.new_context(java_script_enabled=False, base_url=live_server.url)
    context.set_default_timeout(PATIENCE_MS)
    sign_in(context, live_server.url, owner)
    page = context.new_page()
    page.goto("/account/sites/new/")
    page.get_by_label("Name of the site", exact=True).fill("Harbour Gazette")
    page.get_by_label("Address of the site").fill("site.example")
    page.get_by_role("button", name="Next: the look").click()
    expect(page.get_by_label("Inline: the conversation itself")).to_be_checked()
    expect(page.get_by_label("Corner", exact=True)).to_be_hidden()
    page.get_by_label("A round button").check()
    page.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="Next: the look").click()
    expect(page.get_by_label("A round button")).to_be_checked()
    page.get_by_label("Inline: the conversation itself").check()
    page.get_by_role("button", name="Next: the code").click()
    assert 'data-mode="inline"' in (page.locator("#code").text_content() or "")
    context.close()


def test_the_preview_opens_the_panel_although_the_rules_of_the_site_refuse_it(
    owner: Account, browser_context: BrowserContext
) -> None:
    rules = {"type": "patterns", "patterns": ["/nowhere"]}
    site = an_embed(owner, domain_whitelist=["site.example"], domain_blacklist=["localhost"], page_rules=rules)
    page = browser_context.new_page()
    page.goto(f"/account/sites/{site.pk}/look/")
    frame = page.frame_locator(".preview iframe")
    frame.locator("community-embed .trigger").click()
    expect(frame.frame_locator("community-embed iframe").get_by_role("textbox").first).to_be_visible()


def test_the_preview_counts_nothing(owner: Account, browser_context: BrowserContext, settings: Any) -> None:
    site = an_embed(owner, domain_whitelist=["site.example"])
    store_session(browser_context, settings.APP_URL, owner)
    browser_context.add_init_script(COLLECT_EVENTS)
    page = browser_context.new_page()
    page.goto(f"/account/sites/{site.pk}/look/")
    preview = page.frame_locator(".preview iframe")
    preview.locator("community-embed .trigger").click()
    panel = preview.frame_locator("community-embed iframe")
    panel.locator(".thread[aria-busy=false]").wait_for()
    write(panel, "From the preview")
    expect(panel.locator("article", has_text="From the preview")).to_be_visible()
    assert panel_frame(page).evaluate("beacons") == []


def test_every_page_passes_axe_and_fits_the_window(owner: Account, browser_context: BrowserContext) -> None:
    long_name = "Hafenzeitung der Donaudampfschifffahrtsgesellschaftskapitäne"
    site = an_embed(owner, name=long_name, domain_whitelist=["site.example"])
    for days_ago, number in ((1, 12_345), (8, 12), (40, 3)):
        day = timezone.now().date() - timedelta(days=days_ago)
        for event in ("trigger_view", "panel_open", "post_created"):
            DailyCount.objects.create(embed_id=site.pk, day=day, path="/long/" * 40, event=event, count=number)
    page = browser_context.new_page()
    for path in (
        "/account/sites/",
        "/account/sites/new/",
        *(f"/account/sites/{site.pk}/{part}" for part in (*PAGES, *WIZARD)),
    ):
        page.goto(path)
        check_in_turn(page)


def test_the_keyboard_alone_changes_the_look(owner: Account, browser_context: BrowserContext) -> None:
    site = an_embed(owner, name="Harbour Gazette")
    page = browser_context.new_page()
    page.goto(f"/account/sites/{site.pk}/look/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "type":
            break
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Saved.")
    site.refresh_from_db()
    assert site.trigger_config["type"] == "bubble"


def harbour(moderator: Account) -> tuple[Community, Message]:
    community = create_community(owner=moderator, name="Harbour Gazette")
    long = "The ferry leaves at **nine**, see [the table](https://example.org/ferry).\n\n- Monday\n- Tuesday"
    parent = MessageFactory(community=community, content="When does the first ferry leave in the morning?")
    pending: Message = MessageFactory(community=community, parent=parent, content=long, status="pending")
    spam = MessageFactory(community=community, author=AgentAccountFactory(), content="Buy cheap watches " * 30)
    for reason in ("spam", "abuse"):
        spam.reports.create(reporter=PersonFactory(), reason=reason, note="The same as yesterday.")
    Moderator.objects.create(community=community, account=PersonFactory(name="Grace Hopper"))
    ban_account(community_id=community.pk, account_id=PersonFactory().pk, by=moderator, reason="Floods the pages.")
    return community, pending


def page_of_moderator(context: BrowserContext, url: str) -> tuple[Page, Community, Message]:
    """A page in which the moderator of the harbour is signed in, its community, and the post that waits."""
    moderator = PersonFactory()
    community, pending = harbour(moderator)
    sign_in(context, url, moderator)
    return context.new_page(), community, pending


def path(community: Community) -> str:
    return f"/account/communities/{community.slug}/moderation/"


@pytest.mark.journey
def test_a_post_is_approved_and_hidden_and_the_pages_are_accessible(
    browser_context: BrowserContext, live_server: Any
) -> None:
    page, community, pending = page_of_moderator(browser_context, live_server.url)
    for address in MODERATION_PAGES:
        page.goto(path(community) + address)
        check_in_turn(page)
    page.goto(path(community))
    page.evaluate("window.unchanged = true")
    page.get_by_role("button", name="Approve").last.press("Enter")
    expect(page.get_by_role("status")).to_have_text("1 post approved.")
    expect(page.get_by_role("status")).to_be_focused()
    page.get_by_role("link", name="Recent").click()
    page.locator(f"#post-{pending.pk}").get_by_role("button", name="Hide", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("1 post hidden.")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_have_text("1 post restored.")
    assert Message.objects.get(pk=pending.pk).status == "published"


def test_a_decision_that_a_script_cannot_send_is_sent_by_its_form(
    browser_context: BrowserContext, live_server: Any
) -> None:
    page, community, pending = page_of_moderator(browser_context, live_server.url)
    page.add_init_script("window.fetch = () => Promise.reject(new TypeError('Failed to fetch'))")
    page.goto(path(community))
    card = page.locator(f"#post-{pending.pk}")
    card.get_by_role("button", name="Hide", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("1 post hidden.")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_have_text("1 post restored.")
    page.go_back()
    assert page.locator("#queue[aria-busy=true]").count() == 0


def test_a_post_that_was_edited_after_it_was_read_is_shown_again(
    browser_context: BrowserContext, live_server: Any
) -> None:
    page, community, pending = page_of_moderator(browser_context, live_server.url)
    Message.objects.filter(pk=pending.pk).update(updated_at=datetime(2026, 5, 1, tzinfo=UTC))
    page.goto(path(community))
    assert Api.as_person(pending.author).put(f"/api/messages/{pending.pk}", {"content": "At ten"}).status == 200
    card = page.locator(f"#post-{pending.pk}")
    card.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_contain_text("The author edited this post after you read it.")
    expect(card).to_contain_text("At ten")
    assert Message.objects.get(pk=pending.pk).status == "pending"
    card.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_have_text("1 post approved.")


def test_several_posts_are_decided_without_scripts(browser: Browser, live_server: Any) -> None:
    context = browser.new_context(java_script_enabled=False, base_url=live_server.url)
    context.set_default_timeout(PATIENCE_MS)
    page, community, pending = page_of_moderator(context, live_server.url)
    page.goto(path(community))
    page.get_by_role("checkbox").check()
    page.locator("#several").get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_have_text("1 post approved.")
    context.close()
    assert Message.objects.get(pk=pending.pk).status == "published"
