"""The widget, the service and the host page together: domain lists, privacy, keyboard, refresh."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from messaging.models import Account
from tests.browser import PATIENCE_MS
from tests.widget.live import Live, wait_until_drawn

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FRAME = "(src) => document.body.append(Object.assign(document.createElement('iframe'), { src }))"


def require_refused_frame(page: Page, address: str) -> None:
    """Require that the browser shows its error page instead of the panel."""
    page.evaluate(FRAME, address)
    for _ in range(PATIENCE_MS // 50):
        if page.frames[-1].url.startswith("chrome-error:"):
            break
        page.wait_for_timeout(50)
    assert page.frames[-1].url.startswith("chrome-error:")
    assert page.frame_locator("iframe").locator("h1", has_text="Discussion").count() == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"domain_whitelist": ["example.com"]}, "domain_not_allowed"),
        ({"domain_blacklist": ["localhost"]}, "domain_not_allowed"),
        ({"status": "paused"}, "embed_paused"),
        ({"deleted_at": timezone.now()}, "embed_not_found"),
        ({"page_rules": {"type": "exclude", "patterns": ["/host/*"]}}, "page_not_allowed"),
    ],
)
def test_refused_embed_reports_the_reason_and_shows_no_trigger(live: Live, change: dict[str, Any], reason: str) -> None:
    live.change(**change)
    page = live.context.new_page()
    with page.expect_console_message(lambda message: "[community-embed]" in message.text):
        page.goto(live.url)
    assert [text for text in live.console if "[community-embed]" in text] == [
        f"[community-embed] not shown: {reason} {live.embed.pk}"
    ]
    assert page.locator("community-embed").count() == 0


@pytest.mark.parametrize("change", [{"domain_whitelist": ["example.com"]}, {"domain_blacklist": ["localhost"]}])
def test_browser_refuses_the_frame_on_a_domain_that_is_not_allowed(live: Live, change: dict[str, Any]) -> None:
    live.change(**change)
    page = live.context.new_page()
    page.goto(live.url)
    require_refused_frame(page, live.panel_url())


def test_page_without_a_referer_may_frame_the_panel_despite_a_blacklist(live: Live) -> None:
    live.change(domain_blacklist=["bad.example"])
    live.headers["Referrer-Policy"] = "no-referrer"
    _page, panel = live.open()
    expect(panel.locator("h1")).to_be_visible()


def test_page_on_the_blacklist_cannot_frame_with_the_name_of_another_host(live: Live) -> None:
    live.change(domain_blacklist=["localhost"])
    page = live.context.new_page()
    page.goto(live.url)
    require_refused_frame(page, live.panel_url(host="good.example"))


def test_global_privacy_control_stops_the_events_of_the_panel(live: Live, ada: Account) -> None:
    live.context.add_init_script("Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })")
    live.signed_in(ada)
    sent: list[str] = []
    live.context.on("request", lambda request: sent.append(request.url))
    page, panel = live.open()
    panel.get_by_label("Write a post…").fill("Quietly")
    panel.locator("#write").get_by_role("button", name="Post").click()
    expect(panel.locator("article")).to_have_count(1)
    page.keyboard.press("Escape")
    page.wait_for_timeout(50)
    assert [url for url in sent if "/analytics/" in url] == []


def test_keyboard_suffices_to_react_and_reply(live: Live, ada: Account) -> None:
    post = live.message(content="Reach me")
    live.signed_in(ada)
    page = live.context.new_page()
    page.goto(live.url)
    page.locator("community-embed .trigger").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    panel = page.frame_locator("iframe")
    panel.locator("article").wait_for()
    wait_until_drawn(page, panel.locator("h1"))
    focus(live, "React")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")  # the row of emoji, not the panel
    expect(panel.locator(".choice")).to_be_hidden()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(panel.locator(".chip")).to_have_text("❤️1")
    focus(live, "Reply")
    page.keyboard.press("Enter")
    page.keyboard.type("By keys")
    page.keyboard.press("Control+Enter")
    expect(panel.locator("article.reply")).to_contain_text("By keys")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    post.refresh_from_db()
    assert (post.reply_count, post.reaction_total) == (1, 1)


def focus(live: Live, name: str) -> None:
    """Press Tab until a button of this name has the focus."""
    page = live.context.pages[0]
    for _ in range(30):
        if page.frames[-1].evaluate("document.activeElement?.textContent") == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {name}.")
