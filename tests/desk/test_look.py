"""Every page of the admin in a browser: accessible, within both widths, without errors in the console.

A fold-out, the help, reasons and a decided row are looked at in the state in which they are shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from agents.models import AgentRequest
from messaging.models import Account, Message
from tests import axe
from tests.admin.every_page import kind_of
from tests.admin.pages import page as path_of
from tests.admin.test_browser import INLINE
from tests.agents.factories import RequestFactory
from tests.browser import PATIENCE_MS
from tests.desk.world import a_queue, world
from tests.factories import SuperAdminFactory

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# A browser logs the status of a page that is refused, and the inline styles of axe, which the policy forbids.
EXPECTED = ("the server responded with a status of 40", "Applying inline style")
LIST_FITS = "(list => list.scrollWidth <= list.clientWidth)(document.querySelector('#changelist .results'))"
PHONE, WIDE = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
LOOKS = {"wide": (WIDE, "light"), "phone": (PHONE, "dark")}
# The pages share a style sheet and few templates: axe runs in both looks on a page of each template, in turn on others.
IN_BOTH = (
    "/nowhere/",
    "/agentrequest/",
    "/agentrequest/*/change/",
    "/message/*/change/",
    "/reject/",
    "/community/add/",
)


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


def violations(page: Page, scheme: str) -> list[tuple[str, str]]:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    # Colours change over a moment.
    page.evaluate("document.getAnimations().forEach(one => one.finish())")
    return axe.violations(page)


def check(page: Page, path: str, found: dict[str, Any], looks: Collection[str] = LOOKS.keys()) -> None:
    """Add what is wrong with the page: its accessibility in these looks, its width in both."""
    for name, (size, scheme) in LOOKS.items():
        page.set_viewport_size(size)  # type: ignore[arg-type]
        if name in looks:
            found[f"{path} {name}, {scheme}"] = violations(page, scheme)
        fits = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        found[f"{path} {name}, width"] = [] if fits else ["scrolls sideways"]
    assert page.locator("h1").count() == 1, path


def test_every_page_is_accessible_and_fits_the_width_and_logs_no_error(page: Page, boss: Account) -> None:
    found: dict[str, Any] = {}
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(f"{page.url}: {error}"))
    page.on("console", lambda said: errors.append(f"{page.url}: {said.text}") if said.type == "error" else None)
    paths = world(boss)
    for number, path in enumerate(paths):
        page.goto(path)
        assert page.locator(INLINE).count() == 0, path
        in_both = kind_of(path) == "/admin/" or kind_of(path).endswith(IN_BOTH)
        check(page, path, found, LOOKS if in_both else [list(LOOKS)[number % 2]])
    assert {name: problems for name, problems in found.items() if problems} == {}
    assert [error for error in errors if not any(text in error for text in EXPECTED)] == []


def test_fold_outs_help_reasons_and_decided_rows_are_accessible(page: Page, boss: Account) -> None:
    a_queue()
    found: dict[str, Any] = {}
    for model in (AgentRequest, Message):
        # A phone has no keys, and no help about them.
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]
        page.goto(path_of(model, "changelist") + "?status__exact=pending")
        page.keyboard.press("a")
        expect(page.locator(".decided-row")).to_be_visible()
        page.keyboard.press("?")
        expect(page.locator("#decision-keys")).to_be_visible()
        page.evaluate("for (const one of document.querySelectorAll('#content details')) one.open = true")
        # Else the buttons, which stay in sight, would cover cells.
        found[f"{model.__name__} wide list"] = [] if page.evaluate(LIST_FITS) else ["scrolls sideways"]
        check(page, f"{model.__name__} opened", found)
        page.keyboard.press("r")
        expect(page.locator(".ready-reasons")).to_be_visible()
        check(page, f"{model.__name__} with reasons", found, ["phone"])
    assert {name: problems for name, problems in found.items() if problems} == {}


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
