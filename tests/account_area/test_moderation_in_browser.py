"""The pages of moderators in a browser: with and without scripts, by keyboard, and for axe."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from messaging.models import Account, Community, Message, Moderator
from messaging.services.bans import ban_account
from messaging.services.communities import create_community
from tests import axe
from tests.account_area.conftest import sign_in
from tests.api import Api
from tests.browser import PATIENCE_MS
from tests.factories import AgentAccountFactory, MessageFactory, PersonFactory

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGES = ["", "?state=reported", "?state=recent", "rules/", "people/", "log/"]


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


def violations_of(page: Page) -> list[tuple[str, str, str]]:
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found += [(f"{page.url} {scheme}", *each) for each in axe.violations(page, colours_only=scheme == "dark")]
    return found


@pytest.mark.journey
@pytest.mark.parametrize(
    "browser_context", [{"width": 390, "height": 844}, {"width": 1440, "height": 900}], indirect=True
)
def test_a_post_is_approved_and_hidden_and_the_pages_are_accessible(
    browser_context: BrowserContext, live_server: Any
) -> None:
    page, community, pending = page_of_moderator(browser_context, live_server.url)
    found = []
    for address in PAGES:
        page.goto(path(community) + address)
        found += violations_of(page)
        wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
        assert not wide, address
    assert found == []
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
