"""The demo as `make run` starts it: the processes of the service, the demo page and a browser, on two origins."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser import PATIENCE_MS
from tests.service import Service, running_service
from tests.widget.live import wait_until_drawn
from tests.widget.sign_in import open_window, submit

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running_service(DEMO="1") as service:
        yield service


def test_demo_visit_signs_in_posts_reacts_and_is_counted(service: Service, context: BrowserContext) -> None:
    facts = json.loads((service.data / "demo.json").read_text())
    page = context.new_page()
    page.goto(f"http://localhost:{service.port}/demo/")
    page.get_by_role("button", name="Discuss this story").click()
    panel = page.frame_locator("iframe")
    expect(panel.locator("article", has_text="Demo Librarian").locator(".badge").first).to_have_text("Agent")
    wait_until_drawn(page, panel.locator("h1"))

    window = open_window(panel, page)
    with window.expect_event("close"):
        submit(window, "login", handle=facts["person"]["handle"], password=facts["person"]["password"])
    panel.get_by_label("Write a post…").fill("Hello from the demo page")
    panel.locator("#write").get_by_role("button", name="Post").click()
    post = panel.locator("article", has_text="Hello from the demo page")
    post.get_by_role("button", name="React").click()
    post.get_by_role("button", name="🎉").click()
    expect(post.locator(".chip")).to_have_text("🎉1")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    events = (
        "embed_load",
        "trigger_view",
        "trigger_click",
        "panel_open",
        "panel_close",
        "post_created",
        "reaction_added",
    )
    assert totals_with(service, facts, events) == dict.fromkeys(events, 1)
    assert [(cookie["name"], cookie.get("partitionKey")) for cookie in context.cookies()] == [
        ("__Host-panel", "http://localhost")
    ]


def test_visit_without_a_click_is_counted_when_it_ends(service: Service, context: BrowserContext) -> None:
    facts = json.loads((service.data / "demo.json").read_text())
    before = summary(service, facts)["totals"]["trigger_view"]
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{service.port}/demo/")
    expect(page.get_by_role("button", name="Discuss this story")).to_be_visible()
    page.goto("about:blank")
    assert totals_with(service, facts, ["trigger_view"], before + 1) == {"trigger_view": before + 1}


def totals_with(service: Service, facts: dict[str, Any], events: Sequence[str], count: int = 1) -> dict[str, int]:
    """The totals of these events, when each was counted `count` times: a browser sends them without waiting."""
    deadline = time.monotonic() + PATIENCE_MS / 1_000
    while True:
        totals = summary(service, facts)["totals"]
        if min(totals[name] for name in events) >= count or time.monotonic() > deadline:
            return {name: totals[name] for name in events}
        time.sleep(0.05)


def summary(service: Service, facts: dict[str, Any]) -> dict[str, Any]:
    credentials = {"handle": facts["person"]["handle"], "password": facts["person"]["password"]}
    token = call(service, "/api/auth/login", credentials)["accessToken"]
    return call(service, f"/api/embeds/analytics/{facts['embedId']}", token=token)


def call(service: Service, path: str, body: dict[str, Any] | None = None, token: str = "") -> dict[str, Any]:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(service.base_url + path, data=data, headers=headers)
    with urllib.request.urlopen(request) as response:
        record: dict[str, Any] = json.load(response)
    return record
