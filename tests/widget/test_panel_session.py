"""A person signs in once for each site: across reloads and tabs, with third-party cookies and storage blocked.

The contexts of these tests block cookies of third parties, as private windows of Chromium do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, Route, expect

from embeds.widget.locales import words
from messaging.accounts.services import choose_password
from messaging.models import Account, Message, PanelSession
from tests.browser import ARGUMENTS
from tests.factories import PersonFactory
from tests.panel_sessions import panel_secret
from tests.widget.clock import advance_and_stop
from tests.widget.live import CODE, PASSWORD, Live, open_panel, panel_frame, reopen
from tests.widget.sign_in import cookies_of, open_window, submit
from tests.widget.sites import html
from tests.widget.test_panel_own import write

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OTHER_SITE = "http://other.example/article"
SIGNED_IN, SIGNED_OUT = "Signed in as Ada Lovelace", words("en")["panel"]["join"]
DRAFT = "Grüße: a draft of some words 🎉"


@pytest.fixture(scope="module")
def browser(browser: Browser, chromium: str) -> Iterator[Browser]:
    with browser.browser_type.launch(executable_path=chromium, args=ARGUMENTS) as whole:
        yield whole


def sign_in(page: Page, panel: FrameLocator) -> None:
    window = open_window(panel, page)
    with window.expect_event("close"):
        submit(window, "login", handle="ada", password=PASSWORD)
    expect_account(panel, SIGNED_IN)


def expect_account(panel: FrameLocator | Page, text: str) -> None:
    expect(panel.locator("#account")).to_be_visible()
    expect(panel.locator("#account")).to_contain_text(text)


def draft_in(panel: FrameLocator) -> Any:
    return panel.get_by_label("Write a post…")


def open_other_site(live: Live) -> tuple[Page, FrameLocator]:
    code = CODE.format(app=live.app, id=live.embed.pk, more="")
    live.context.route(OTHER_SITE, lambda route: route.fulfill(body=html(code), content_type="text/html"))
    page = live.context.new_page()
    page.goto(OTHER_SITE)
    return page, open_panel(page)


@pytest.mark.journey
def test_a_sign_in_lasts_in_every_tab_of_one_site_until_the_person_signs_out(live: Live, ada: Account) -> None:
    live.message(content="From before")
    page, panel = live.open()
    assert live.context.cookies() == []
    sign_in(page, panel)
    (cookie,) = cookies_of(live.context)
    (known,) = (each for each in live.context.cookies() if each != cookie)
    assert known.items() >= {"name": "known", "httpOnly": True, "sameSite": "Lax"}.items()
    kind = {"name": "__Host-panel", "httpOnly": True, "secure": True, "sameSite": "None"}
    assert cookie.items() >= (kind | {"partitionKey": "http://localhost"}).items()
    assert cookie["value"] not in panel_frame(page).evaluate(
        "document.cookie + JSON.stringify([{ ...localStorage }, { ...sessionStorage }])"
    )

    sent: list[str] = []
    live.context.on("request", lambda request: sent.append(request.url.removeprefix(live.app).split("?")[0]))
    reopen(page)
    expect_account(panel, SIGNED_IN)
    expect(panel.locator("#toast")).to_be_empty()
    assert [path for path in sent if path.startswith(("/api/auth", "/v1/me"))] == [
        "/api/auth/panel-token",
        "/v1/me/reactions",
    ]
    tab, in_tab = live.open()
    expect_account(in_tab, SIGNED_IN)
    in_tab.get_by_role("button", name="React").click()
    in_tab.get_by_role("button", name="👍").click()
    expect(in_tab.locator(".chip")).to_have_attribute("aria-pressed", "true")
    draft_in(in_tab).fill(DRAFT)
    reopen(page)
    expect(panel.locator(".chip")).to_have_attribute("aria-pressed", "true")
    expect(draft_in(panel)).to_have_value(DRAFT)

    other, in_other = open_other_site(live)
    expect_account(in_other, SIGNED_OUT)
    sign_in(other, in_other)
    assert PanelSession.objects.count() == 2

    panel.get_by_role("button", name="Sign out").click()
    expect_account(panel, SIGNED_OUT)
    expect_account(in_tab, SIGNED_OUT)
    expect_account(in_other, SIGNED_IN)
    assert PanelSession.objects.count() == 1
    assert [cookie.get("partitionKey") for cookie in cookies_of(live.context)] == ["http://other.example"]
    reopen(tab)
    expect_account(in_tab, SIGNED_OUT)
    expect(draft_in(in_tab)).to_have_value("")
    sign_in(tab, in_tab)
    expect_account(panel, SIGNED_IN)
    assert live.errors == []


def test_without_cookies_a_sign_in_lasts_as_long_as_the_tab(live: Live, ada: Account) -> None:
    def without_cookie(route: Route) -> None:
        response = route.fetch()
        headers = {name: value for name, value in response.headers.items() if name != "set-cookie"}
        route.fulfill(response=response, headers=headers)

    live.context.route(f"{live.app}/api/auth/panel-session", without_cookie)
    page, panel = live.open()
    sign_in(page, panel)
    write(panel, "From a tab")
    expect(panel.locator("article .content")).to_have_text(["From a tab"])
    reopen(page)
    expect_account(panel, SIGNED_IN)
    _, in_tab = live.open()
    expect_account(in_tab, SIGNED_OUT)


def test_a_token_is_renewed_when_it_is_needed_and_the_panel_learns_that_the_session_has_ended(
    live: Live, ada: Account
) -> None:
    live.context.clock.install()
    live.message()
    bystander = PersonFactory()
    panel_secret(bystander)
    page, panel = live.open()
    sign_in(page, panel)
    asked: list[str] = []
    live.context.on("request", lambda request: asked.append(request.url.removeprefix(live.app)))
    page.clock.fast_forward(16 * 60_000)
    assert "/api/auth/panel-token" not in asked, "an idle panel does not ask"
    panel.get_by_role("button", name="React").click()
    panel.get_by_role("button", name="🎉").click()
    expect(panel.locator(".chip")).to_have_attribute("aria-pressed", "true")
    assert asked.count("/api/auth/panel-token") == 1

    away = live.respond("/api/auth/panel-token", 503, {"error": "temporarily_unavailable"})
    advance_and_stop(page, 16 * 60_000)
    write(panel, "Not lost")
    expect(panel.locator("#toast")).to_contain_text("away for a moment")
    assert len(page.context.pages) == 1, "no sign-in window is opened"
    page.clock.resume()
    page.reload()
    page.locator("community-embed button.trigger").click()
    panel.locator(".thread[aria-busy=false]").wait_for()
    expect(panel.locator("#account")).to_be_hidden()
    live.context.unroute(f"{live.app}/api/auth/panel-token")
    # Its own reactions are loaded with the session: a later refusal would end the session before the press.
    with page.expect_request_finished(lambda request: "/v1/me/reactions" in request.url):
        page.clock.fast_forward(5000)
    expect_account(panel, SIGNED_IN)
    assert len(away) >= 2

    choose_password(account=Account.objects.get(pk=ada.pk), password="another long passphrase")
    expect(draft_in(panel)).to_have_value("Not lost")
    panel.locator("#write").get_by_role("button", name="Post").click()
    expect(panel.locator("#write .problem")).to_contain_text("Your sign-in has ended")
    expect_account(panel, SIGNED_OUT)
    expect(draft_in(panel)).to_have_value("Not lost")
    assert cookies_of(live.context) == []
    assert not Message.objects.filter(content="Not lost").exists()
    # The session of another person has not ended.
    bystander.refresh_from_db()
    assert PanelSession.objects.get(account=bystander).sessions_valid_from == bystander.sessions_valid_from
