"""axe reports no violations: the panel in each look, and every other state once in each colour scheme."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from messaging.models import Account
from messaging.moderation.services import hide_message
from messaging.smart_tags import SMART_TAGS
from tests import axe
from tests.factories import AgentAccountFactory, SuperAdminFactory
from tests.widget.live import Live, panel_frame
from tests.widget.sign_in import submit
from tests.widget.sites import HOST, Site

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Each width, and both schemes on a phone and on a wide screen: scheme, width, whether only the colours are new.
LOOKS = (("light", 320, False), ("dark", 390, False), ("dark", 1440, False), ("light", 1440, True))
# The structure of a state is the same in each look; its colours differ by scheme.
LOOKS_OF_A_STATE = (("light", 320, False), ("dark", 390, True))


def violations_of(page: Page, looks: tuple[tuple[str, int, bool], ...] = LOOKS) -> list[tuple[str, str, str]]:
    """Return the violations that axe reports, by colour scheme and width: (scheme and width, rule, first element).

    In a page with a panel, axe examines the panel: it does not look into a frame by itself.
    """
    found = []
    for scheme, width, colours_only in looks:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 900})
        violations = axe.violations(panel_frame(page), colours_only=colours_only)  # type: ignore[arg-type]
        found += [(f"{scheme} {width}", *each) for each in violations]
    return found


def violations_of_state(page: Page) -> list[tuple[str, str, str]]:
    """Return the violations of a page or panel of which another state is examined in each look."""
    return violations_of(page, LOOKS_OF_A_STATE)


def add_messages(live: Live) -> None:
    for name, smart in SMART_TAGS.items():
        live.message(content=f"A {name}", tag_type=name, payload=smart.example, anchor_text="A passage")
    long = live.message(content="Long words " * 200, author=AgentAccountFactory())
    live.message(content="A reply", parent=long)
    live.message(content="A quote", quote=long, attachments=[{"type": "image/png", "url": "https://example.org/a.png"}])


def test_trigger_has_no_violations(site: Site) -> None:
    page = site.context.new_page()
    for kind, color in (("corner-tab", "#2f5bd0"), ("bubble", "#ffe94d"), ("inline", "#777")):
        site.config["triggerConfig"] |= {"type": kind, "color": color}
        page.goto(HOST)
        site.settle(page)
        assert violations_of_state(page) == [], kind


@pytest.mark.journey
def test_panel_has_no_violations(live: Live) -> None:
    add_messages(live)
    page = live.open_alone()
    post = page.locator("article", has_text="Long words").last
    post.locator("> .body").get_by_role("button", name="React").click()
    post.locator("> .body").get_by_role("button", name="Reply").click()
    post.locator("> .body").get_by_role("button", name="Quote").click()
    page.locator("#write textarea").fill("x")
    assert violations_of(page) == []


def test_panel_with_new_and_hidden_posts_has_no_violations(live: Live) -> None:
    live.context.clock.install()
    live.message(content="Older")
    hidden = live.message(content="Hidden")
    page = live.open_alone()
    page.locator("[data-live=poll]").wait_for()
    page.locator("article", has_text="Hidden").get_by_role("button", name="Reply").click()
    hide_message(message_id=hidden.pk, by=SuperAdminFactory())
    live.post("New")
    page.clock.fast_forward(46_000)
    page.locator(".withdrawn").wait_for()
    page.get_by_role("button", name="1 new post").wait_for()
    assert violations_of_state(page) == []


def test_panel_with_own_pending_and_deep_posts_has_no_violations(live: Live, ada: Account) -> None:
    live.moderate()
    post = root = live.message(content="Root")
    for n in range(5):
        post = live.message(content=f"Reply {n}", parent=post)
    live.signed_in(ada)
    page = live.open_alone()
    page.get_by_role("button", name="Show 1 reply").click()
    page.get_by_role("link", name="In reply to").first.wait_for()
    page.locator(f"#community-post-{root.pk} > .body").get_by_role("button", name="React").click()
    page.locator(f"#community-post-{root.pk} > .body .choice button").first.click()
    page.locator("#toast p").wait_for()
    page.locator("#write textarea").fill("Please look at this")
    page.locator("#write").get_by_role("button", name="Post").click()
    page.locator(".review:visible").wait_for()
    page.locator("article").last.get_by_role("button", name="Reply").click()
    page.get_by_role("button", name="Cancel").wait_for()
    page.locator("#skip").focus()
    assert violations_of_state(page) == []


def test_right_to_left_and_failed_panels_and_the_dialog_on_a_host_page_have_no_violations(live: Live) -> None:
    assert violations_of_state(live.open_alone(lang="ar")) == []
    live.context.route("**/api/messages?*", lambda route: route.abort())
    page, _ = live.open()
    assert violations_of_state(page) == []
    # The page around the panel.
    assert axe.violations(page) == []


def test_sign_in_window_has_no_violations(live: Live) -> None:
    page = live.context.new_page()
    page.goto(live.url)
    with page.context.expect_page() as opened:
        page.evaluate(f"window.open('{live.app}/embed/sign-in#x')")
    window = opened.value
    window.locator("#login h1").wait_for()
    assert violations_of(window) == []
    submit(window, "login", handle="nobody", password="wrong password")
    window.get_by_role("alert").wait_for()
    window.get_by_role("button", name="Create an account").click()
    assert violations_of_state(window) == []
    page.goto(f"{live.app}/embed/sign-in")
    assert violations_of_state(page) == []


def test_demo_start_and_unavailable_pages_have_no_violations(live: Live, settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "demo.json").write_text(json.dumps({"embedId": str(live.embed.pk), "pageUrl": live.url}))
    page = live.context.new_page()
    for path in ("/demo/", "/", "/embed/panel?serviceId=none"):
        page.goto(f"{live.host}{path}")
        if path == "/demo/":
            page.locator("community-embed .trigger").wait_for()
        assert violations_of_state(page) == [], path
