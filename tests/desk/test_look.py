"""Every page of the admin in a browser: accessible, within the width, light and dark, without errors in the console."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from agents.services import reject_request
from desk.models import DailyCount, DailyTotal, Of, Top, Total
from messaging.models import Account, Community, Message, Report
from reactions.models import Reaction
from tests import axe
from tests.admin.pages import page as path_of
from tests.agents.factories import RequestFactory, agent_with_token
from tests.api import Api
from tests.browser import PATIENCE_MS
from tests.desk.making import today
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PHONE, WIDE = {"width": 390, "height": 844}, {"width": 1440, "height": 900}


@pytest.fixture
def boss(transactional_db: Any) -> Account:
    account: Account = SuperAdminFactory(handle="the_boss")
    return account


@pytest.fixture
def page(browser: Browser, live_server: Any, boss: Account) -> Iterator[Page]:
    client = Client()
    client.force_login(boss)
    name = settings.SESSION_COOKIE_NAME
    context = browser.new_context(viewport=WIDE, base_url=live_server.url, locale="en-GB")  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": live_server.url}])
    yield context.new_page()
    context.close()


def world(boss: Account) -> list[str]:
    """The paths of all lists, of a row of each, and of pages of other kinds."""
    holder, community = agent_with_token(agent_handle="harbour_helper"), CommunityFactory(blocked_words=["spam*"])
    waiting, embed, person = RequestFactory(agent_handle="asked_for"), an_embed(name="Harbour"), PersonFactory()
    reject_request(request_id=RequestFactory().pk, by=boss, reason="Too loud.")
    tag = {"tag_type": "claim", "payload": {"statement": "Boats float.", "sources": ["a", "b"]}}
    post = MessageFactory(author=holder.account, community=community, content="The harbour. " * 20, **tag)
    pending = MessageFactory(status="pending")
    holder.api.post("/v1/reactions", {"messageId": str(post.pk), "emoji": "👍"})
    Api.as_person(person).post(f"/api/messages/{post.pk}/report", {"reason": "spam", "note": "Not nice."})
    for kind in (Total.PEOPLE, Total.AGENTS, Total.REPORTS):
        DailyTotal.objects.create(kind=kind.value, day=today(), name="", count=5)
    for code in range(6):
        DailyTotal.objects.create(kind=Total.REFUSALS.value, day=today(), name=f"code_{code}", count=5)
    DailyCount.objects.create(subject_id=holder.account.pk, kind=Of.AGENT.value, day=today(), count=5)
    Top.objects.create(kind="agents", place=1, subject_id=holder.account.pk, count=5)
    rows = [waiting, holder.agent, holder.token, post, pending, person, community, embed]
    rows += [Report.objects.get(), Reaction.objects.get(), LogEntry.objects.first()]
    return [
        "/admin/",
        *("/admin/search/?q=harbour", "/admin/notices/", "/admin/record/", "/admin/agents/", "/admin/nowhere/"),
        *(path_of(model, "changelist") for model in admin.site._registry),
        *map(path_of, rows),
        *(path_of(waiting, "approve"), path_of(post, "hide"), path_of(community, "history")),
        path_of(Community, "add"),
    ]


def violations(page: Page, scheme: str) -> list[tuple[str, str]]:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    # Colours change over a moment.
    page.evaluate("Promise.all(document.getAnimations().map(one => one.finished.catch(() => {})))")
    return axe.violations(page)


def test_every_page_is_accessible_and_fits_the_width(page: Page, boss: Account) -> None:
    found: dict[str, Any] = {}
    for path in world(boss):
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]
        page.goto(path)
        found[f"{path} wide, light"] = violations(page, "light")
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        found[f"{path} phone, dark"] = violations(page, "dark")
        fits = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        found[f"{path} width"] = [] if fits else ["scrolls sideways"]
        assert page.locator("h1").count() == 1, path
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_a_key_leads_to_the_search_from_any_page(page: Page, boss: Account) -> None:
    person = PersonFactory(handle="heron_watcher")
    page.goto(path_of(Message, "changelist"))
    page.keyboard.press("/")
    page.keyboard.type("heron")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="@heron_watcher").click()
    expect(page).to_have_url(f"{page.url.partition('/admin/')[0]}{path_of(person)}")


def test_a_page_in_the_background_counts_what_waits_every_two_minutes(page: Page, boss: Account) -> None:
    page.add_init_script("Object.defineProperty(document, 'hidden', { get: () => true })")
    page.clock.install()
    counts: list[str] = []
    page.on("response", lambda response: counts.append(response.url) if "/waiting/" in response.url else None)
    with page.expect_response("**/admin/waiting/"):
        page.goto("/admin/search/")
    RequestFactory()
    page.clock.fast_forward(61_000)
    with page.expect_response("**/admin/waiting/"):
        page.clock.fast_forward(61_000)
    expect(page).to_have_title("(1) Search | Community Messaging")
    assert len(counts) == 2


def test_the_title_counts_what_waits(page: Page, boss: Account) -> None:
    page.goto("/admin/search/")
    expect(page).to_have_title("Search | Community Messaging")
    RequestFactory()
    MessageFactory(status="pending")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page).to_have_title("(2) Search | Community Messaging")
