"""The journey of an owner, from the list to a widget that is seen; every page with axe, and the keyboard."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from embeds import sightings
from embeds.models import DailyCount, Embed
from messaging.models import Page as PageRow
from tests.account_area.conftest import sign_in
from tests.account_area.looks import BOTH_SIZES, check_at_both_sizes
from tests.embeds.making import an_embed
from tests.factories import PersonFactory
from tests.widget.live import panel_frame, store_session
from tests.widget.test_panel_own import COLLECT_EVENTS, write

if TYPE_CHECKING:
    from messaging.models import Account

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGES = ("", "install/?address=site.example", "look/", "pages/", "words/", "settings/", "delete/")


@pytest.fixture
def owner(live_server: Any, browser_context: BrowserContext, settings: Any) -> Account:
    settings.APP_URL = settings.BASE_URL = live_server.url.replace("localhost", "127.0.0.1")
    settings.STREAM_URL = None
    settings.SIGHTING_SECONDS = 0
    sightings._written.clear()
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
@BOTH_SIZES
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
    page.get_by_label("Words").fill("Talk to us")
    expect(trigger).to_have_text("Talk to us")
    page.get_by_label("A button in the text").check()
    expect(page.frame_locator(".preview iframe").locator("#place community-embed")).to_have_count(1)
    page.get_by_role("button", name="Next: the code").click()

    expect(page.get_by_role("status")).to_contain_text("Waiting for the first visit")
    code = page.locator("#code").text_content() or ""
    assert str(Embed.objects.get(owner=owner).pk) in code
    visit = browser_context.new_page()
    visit.goto(site_with(page, live_server.url, code))
    expect(visit.locator("community-embed .trigger")).to_have_text("Talk to us")
    expect(page.get_by_role("status")).to_contain_text("We have seen your widget on site.example")
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Harbour Gazette")


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
    assert PageRow.objects.get(normalized_url="https://site.example/").last_embedded_on is None


def test_every_page_passes_axe_and_fits_the_window(owner: Account, browser_context: BrowserContext) -> None:
    long_name = "Hafenzeitung der Donaudampfschifffahrtsgesellschaftskapitäne"
    site = an_embed(owner, name=long_name, domain_whitelist=["site.example"])
    for days_ago, number in ((1, 12_345), (8, 12), (40, 3)):
        day = timezone.now().date() - timedelta(days=days_ago)
        for event in ("trigger_view", "panel_open", "post_created"):
            DailyCount.objects.create(embed_id=site.pk, day=day, path="/long/" * 40, event=event, count=number)
    page = browser_context.new_page()
    for path in ("/account/sites/", "/account/sites/new/", *(f"/account/sites/{site.pk}/{part}" for part in PAGES)):
        page.goto(path)
        check_at_both_sizes(page)


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
