"""Sign-in and drafts where Chromium blocks third-party cookies, and storage of third parties with them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from messaging.models import Account
from tests.browser import ARGUMENTS
from tests.widget.live import Live, panel_frame, reopen
from tests.widget.sign_in import cookies_of
from tests.widget.test_panel_orders import choose, posts_of
from tests.widget.test_panel_session import DRAFT, SIGNED_IN, SIGNED_OUT, draft_in, expect_account, sign_in

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
IS_BLOCKED = "(() => { try { localStorage.length; return false; } catch { return true; } })()"


@pytest.fixture(scope="module")
def browser(browser: Browser, chromium: str) -> Iterator[Browser]:
    """Chromium refuses storage of third parties too, as it does where it cannot partition the storage."""
    arguments = [
        f"{argument},ThirdPartyStoragePartitioning" if "-features=" in argument else argument for argument in ARGUMENTS
    ]
    with browser.browser_type.launch(executable_path=chromium, args=arguments) as strict:
        yield strict


def test_a_chosen_order_is_in_no_cookie_and_a_draft_until_it_is_void(live: Live) -> None:
    live.context.clock.install()
    for content in ("Older", "Newer"):
        live.message(content=content)
    page, panel = live.open()
    assert panel_frame(page).evaluate(IS_BLOCKED)
    choose(panel, "Order", "Oldest first")
    expect(posts_of(panel)).to_have_text(["Older", "Newer"])
    choose(panel, "Show posts by", "People")
    expect(posts_of(panel)).to_have_text(["Older", "Newer"])
    assert live.context.cookies() == []
    draft_in(panel).fill(DRAFT)
    (cookie,) = live.context.cookies()
    assert cookie["name"] == "panel-drafts"
    reopen(page)
    expect(draft_in(panel)).to_have_value(DRAFT)
    expect(panel.get_by_label("Order")).to_have_value("newest")
    panel.get_by_role("button", name="Reply").first.click()
    panel.get_by_label("Reply to").fill(DRAFT)
    assert len(live.context.cookies()) == 1
    page.clock.set_system_time(datetime.now(UTC) + timedelta(days=31))
    # The browser, which ends the cookie by its age, has another clock.
    draft_in(panel).fill("Of another day")
    draft_in(panel).fill("")
    assert live.context.cookies() == []
    assert live.errors == []


def test_sign_in_and_drafts_survive_where_storage_is_blocked(live: Live, ada: Account) -> None:
    page, panel = live.open()
    assert panel_frame(page).evaluate(IS_BLOCKED)
    assert live.context.cookies() == []
    draft_in(panel).fill(DRAFT)
    sign_in(page, panel)
    reopen(page)
    expect_account(panel, SIGNED_IN)
    expect(draft_in(panel)).to_have_value(DRAFT)
    _, in_tab = live.open()
    expect_account(in_tab, SIGNED_IN)
    expect(draft_in(in_tab)).to_have_value(DRAFT)
    requests: list[Any] = []
    live.context.on("request", lambda request: requests.append(request))  # noqa: PLW0108
    in_tab.locator("#write").get_by_role("button", name="Post").click()
    expect(in_tab.locator("article .content")).to_have_text([DRAFT])
    sent = [request.all_headers().get("cookie", "") for request in requests if "/api/messages" in request.url]
    assert set(sent) == {""}, "no cookie is sent with calls of the API"

    draft_in(in_tab).fill("long " * 4000)
    expect(in_tab.locator("#write .counter")).to_be_visible()
    draft_in(in_tab).fill("short again")
    reopen(page)
    expect(draft_in(panel)).to_have_value("short again")
    panel.get_by_role("button", name="Sign out").click()
    expect_account(in_tab, SIGNED_OUT)
    assert [cookie["name"] for cookie in cookies_of(live.context)] == []
    assert live.errors == []
