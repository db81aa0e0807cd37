"""The tab Posts of a site in a browser: many posts at once, by keyboard and without scripts, on a phone, for axe."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from embeds.models import Embed
from messaging.communities.bans import ban_account
from messaging.communities.services import create_community
from messaging.models import Account, Community, Message
from tests.account_area.conftest import sign_in
from tests.account_area.looks import BOTH_SIZES, DESKTOP, PHONE, check, check_in_turn
from tests.browser import PATIENCE_MS
from tests.embeds.making import an_embed
from tests.factories import AgentAccountFactory, CommunityFactory, MessageFactory, PersonFactory

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
STATES = ("pending", "reported", "recent", "hidden")


class Place(NamedTuple):
    owner: Account
    community: Community
    site: Embed

    @property
    def posts(self) -> str:
        return f"/account/sites/{self.site.pk}/posts/"


def harbour() -> Place:
    """A community with posts in each state, and one of its authors who writes a lot."""
    owner = PersonFactory(name="Olive Owner")
    community = create_community(owner=owner, name="Harbour Gazette")
    site = an_embed(owner, community_id=community.pk, name="Harbour Gazette")
    parent = MessageFactory(community=community, content="When does the first ferry leave in the morning?")
    quoted = MessageFactory(community=community, content="The timetable of last year, for comparison")
    flood = PersonFactory(name="Donaudampfschifffahrtsgesellschaftskapitän", handle="floods_everything_here")
    long = "The ferry leaves at **nine**, see [the table](https://example.org/ferry).\n\n- Monday\n- Tuesday"
    for _ in range(4):
        MessageFactory(
            community=community, parent=parent, page=parent.page, content=long, status="pending", author=flood
        )
    MessageFactory(community=community, quote=quoted, status="pending", author=AgentAccountFactory())
    spam = MessageFactory(community=community, author=flood, content="Buy cheap watches " * 30)
    for reason in ("spam", "abuse", "illegal", "other", "spam", "spam"):
        spam.reports.create(reporter=PersonFactory(), reason=reason, note="The same as yesterday.")
    MessageFactory.create_batch(2, community=community, status="hidden")
    ban_account(community_id=community.pk, account_id=flood.pk, by=owner, reason="Floods the pages.")
    return Place(owner, community, site)


def opened(context: BrowserContext, url: str, place: Place) -> Page:
    sign_in(context, url, place.owner)
    page = context.new_page()
    page.goto(place.posts)
    return page


def boxes(page: Page) -> Locator:
    return page.locator("#queue article input[type=checkbox]")


def bar(page: Page) -> Locator:
    return page.get_by_role("group", name="Selected posts")


@pytest.mark.journey
@BOTH_SIZES
def test_the_bar_for_many_posts_appears_when_something_is_selected(
    browser_context: BrowserContext, live_server: Any
) -> None:
    place = harbour()
    page = opened(browser_context, live_server.url, place)
    expect(bar(page)).to_have_count(0)
    boxes(page).nth(1).check()
    expect(bar(page)).to_contain_text("Selected posts: 1")
    every = page.get_by_label("All on this page")
    assert every.evaluate("box => box.indeterminate")
    check(page)
    every.check()
    expect(bar(page)).to_contain_text("Selected posts: 5")
    boxes(page).last.scroll_into_view_if_needed()
    page.mouse.wheel(0, 10_000)
    # It stays in the window wherever the list is: at its end on a phone, at its start on a larger screen.
    box, size = bar(page).bounding_box(), page.viewport_size
    assert box
    assert size
    is_phone = size["width"] == PHONE["width"]
    assert box["y"] + box["height"] == pytest.approx(size["height"], abs=1) if is_phone else box["y"] < 80
    check(page)
    every.uncheck()
    expect(bar(page)).to_have_count(0)


@pytest.mark.parametrize("browser_context", [DESKTOP], indirect=True, ids=["desktop"])
def test_the_keyboard_alone_decides_on_many_posts(browser_context: BrowserContext, live_server: Any) -> None:
    place = harbour()
    page = opened(browser_context, live_server.url, place)
    page.get_by_label("All on this page").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    expect(bar(page).get_by_role("button", name="Approve")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("5 posts approved.")
    expect(page.get_by_role("status")).to_be_focused()
    # The list goes on with what waits.
    expect(page.get_by_role("link", name="Reported 1")).to_have_attribute("aria-current", "page")
    # The tab has the number of what waits now: the reported post.
    expect(page.get_by_role("link", name="Posts 1 waiting for your decision")).to_be_visible()
    assert not Message.objects.filter(community=place.community, status="pending").exists()


@BOTH_SIZES
def test_all_posts_of_an_author_are_hidden_and_restored(browser_context: BrowserContext, live_server: Any) -> None:
    place = harbour()
    page = opened(browser_context, live_server.url, place)
    elsewhere = MessageFactory(author=Account.objects.get(handle="floods_everything_here"))
    card = page.locator("article").first
    card.get_by_text("More", exact=True).click()
    check(page)
    form = card.locator("form", has=page.get_by_role("button", name="Hide all of this author"))
    form.get_by_label("Reason for all of them").fill("Advertising.")
    form.get_by_role("button").press("Enter")
    expect(page.get_by_role("status")).to_have_text("5 posts of this author hidden.")
    check(page, ("light",))
    assert Message.objects.get(pk=elsewhere.pk).status == "published"
    page.get_by_role("link", name="Hidden 7").click()
    expect(page.get_by_text("Advertising.")).to_be_visible()
    check(page, ("dark",))
    page.get_by_role("button", name="Undo: restore these posts").click()
    expect(page.get_by_role("status")).to_have_text("5 posts restored.")
    assert Message.objects.filter(community=place.community, status="hidden").count() == 2


def test_every_list_and_what_waits_elsewhere_pass_axe_and_fit_the_window(
    browser_context: BrowserContext, live_server: Any
) -> None:
    place = harbour()
    foreign = CommunityFactory(name="Of others")
    MessageFactory(community=foreign, content="Public " * 20)
    read_only = an_embed(place.owner, community_id=foreign.pk)
    page = opened(browser_context, live_server.url, place)
    for state in STATES:
        page.goto(f"{place.posts}?state={state}")
        check_in_turn(page)
    for address in (f"/account/sites/{read_only.pk}/posts/", "/account/", "/account/inbox/", "/account/sites/"):
        page.goto(address)
        check_in_turn(page)


def test_the_bar_is_always_there_without_scripts(browser: Browser, live_server: Any) -> None:
    context = browser.new_context(java_script_enabled=False, base_url=live_server.url, viewport=PHONE)
    context.set_default_timeout(PATIENCE_MS)
    place = harbour()
    page = opened(context, live_server.url, place)
    expect(bar(page)).to_be_visible()
    boxes(page).first.check()
    bar(page).get_by_role("button", name="Hide").click()
    expect(page.get_by_role("status")).to_have_text("1 post hidden.")
    assert page.url.partition("?")[0].endswith(place.posts)
    context.close()
