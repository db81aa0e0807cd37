"""The widget, the service and the host page together: domain lists, privacy, and permalinks."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.utils import timezone
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect

from embeds.models import Embed
from messaging.models import Account
from tests.browser import PATIENCE_MS
from tests.factories import PageFactory
from tests.widget.live import Live
from tests.widget.test_accessibility import violations_of_state
from tests.widget.test_panel_own import write

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FRAME = "(src) => document.body.append(Object.assign(document.createElement('iframe'), { src }))"


def require_refused_frame(page: BrowserPage, address: str) -> None:
    """Require that the browser shows its error page instead of the panel."""
    page.evaluate(FRAME, address)
    for _ in range(PATIENCE_MS // 50):
        if page.frames[-1].url.startswith("chrome-error:"):
            break
        page.wait_for_timeout(50)
    assert page.frames[-1].url.startswith("chrome-error:")
    assert page.frame_locator("iframe").locator("h1", has_text="Discussion").count() == 0


def test_refused_embed_reports_the_reason_and_shows_no_trigger(live: Live) -> None:
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"domain_whitelist": ["example.com"]}, "domain_not_allowed"),
        ({"domain_blacklist": ["localhost"]}, "domain_not_allowed"),
        ({"status": "paused"}, "embed_paused"),
        ({"deleted_at": timezone.now()}, "embed_not_found"),
        ({"page_rules": {"type": "exclude", "patterns": ["/host/*"]}}, "page_not_allowed"),
    ]
    (allowed,) = Embed.objects.filter(pk=live.embed.pk).values(*(name for change, _ in refusals for name in change))
    page = live.context.new_page()
    for change, reason in refusals:
        live.change(**allowed | change)
        live.console.clear()
        with page.expect_console_message(lambda message: "[community-embed]" in message.text):
            page.goto(live.url)
        reports = [text for text in live.console if "[community-embed]" in text]
        assert reports == [f"[community-embed] not shown: {reason} {live.embed.pk}"]
        assert page.locator("community-embed").count() == 0


def test_browser_refuses_the_frame_on_a_domain_that_is_not_allowed(live: Live) -> None:
    """The name of another host in the address of the frame changes nothing."""
    page = live.context.new_page()
    whitelist, blacklist = {"domain_whitelist": ["example.com"]}, {"domain_blacklist": ["localhost"]}
    for change, query in ((whitelist, {}), (blacklist, {}), (blacklist, {"host": "good.example"})):
        live.change(domain_whitelist=[], domain_blacklist=[])
        live.change(**change)
        page.goto(live.url)
        require_refused_frame(page, live.panel_url(**query))


def test_page_without_a_referer_may_frame_the_panel_despite_a_blacklist_and_privacy_control_stops_its_events(
    live: Live, ada: Account
) -> None:
    live.change(domain_blacklist=["bad.example"])
    live.headers["Referrer-Policy"] = "no-referrer"
    live.context.add_init_script("Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })")
    live.signed_in(ada)
    sent: list[str] = []
    live.context.on("request", lambda request: sent.append(request.url))
    page, panel = live.open()
    write(panel, "Quietly")
    expect(panel.locator("article")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    # A request of the page follows the events that its press would have sent.
    page.evaluate(f"fetch('{live.url}').then((response) => response.text())")
    assert [url for url in sent if "/analytics/" in url] == []


def trust(live: Live) -> None:
    """The host page is on this machine, so readers go on to it by http."""
    host = urlsplit(live.url).netloc
    live.change(domain_whitelist=[host], trusted_entries=[host])


def test_it_leads_to_the_post_on_its_page_and_is_not_in_the_history(live: Live) -> None:
    trust(live)
    post = live.message(community=live.embed.community)
    page = live.context.new_page()
    page.goto(f"{live.app}/embed/sign-in")
    page.goto(f"{live.app}/p/{post.pk}", wait_until="commit")
    page.wait_for_url(f"{live.url}#community-post-{post.pk}")
    # The article in the panel has the id that permalinks name.
    expect(page.frame_locator("iframe").locator(f"#community-post-{post.pk}")).to_contain_text(post.content)
    page.go_back()
    page.wait_for_url(f"{live.app}/embed/sign-in")
    assert not live.errors


def test_a_reader_without_scripts_has_a_link(live: Live) -> None:
    trust(live)
    post = live.message(content="Plain text", community=live.embed.community)
    assert live.context.browser
    context = live.context.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live.app}/p/{post.pk}")
    link = page.get_by_role("link", name="Read it on its page")
    expect(link).to_have_attribute("href", f"{live.url}#community-post-{post.pk}")
    expect(page.locator("article")).to_contain_text("Plain text")
    context.close()


def test_the_thread_has_no_violations(live: Live) -> None:
    post = live.message(content="A post", parent=live.message(content="Above"))
    live.message(content="A reply", parent=post)
    page = live.context.new_page()
    for message_id in (post.pk, live.article.pk):
        page.goto(f"{live.app}/p/{message_id}")
        assert violations_of_state(page) == []
    assert not live.errors


def test_the_link_to_a_page_of_a_long_host_fits_a_phone(live: Live) -> None:
    host = ".".join(["x" * 60] * 4)
    post = live.message(page=PageFactory(url=f"https://{host}/a"))
    page = live.context.new_page()
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{live.app}/p/{post.pk}")
    expect(page.get_by_role("link", name="Read it on its page")).to_contain_text(host)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_panel_that_is_opened_does_not_change_where_a_permalink_leads(live: Live) -> None:
    post = live.message(content="Stays here")
    live.open()
    reader = live.context.new_page()
    reader.goto(f"{live.app}/p/{post.pk}")
    expect(reader.locator("article")).to_contain_text("Stays here")
    link = reader.get_by_role("link", name="Read it on its page")
    expect(link).to_have_attribute("href", f"{live.url}#community-post-{post.pk}")
    expect(link).to_have_attribute("rel", "noopener nofollow ugc")
    assert reader.url == f"{live.app}/p/{post.pk}"
