"""Swagger UI and Redoc in a browser: code samples, the demo token, both colour schemes, accessibility."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client, override_settings
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.django_db
EXPLORER, REFERENCE = "/api/docs/", "/api/redoc/"
# Both libraries render for seconds on a busy machine.
RENDERED = 120_000
TOKEN = "cag_of_the_demo"


@pytest.fixture
def demo(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "demo.json").write_text(json.dumps({"agentToken": TOKEN}))


def opened(browser: Browser, url: str, **options: Any) -> Page:
    page = browser.new_page(**options)
    page.set_default_timeout(RENDERED)
    page.goto(url)
    page.get_by_text("/v1/presence/normalize-url").first.wait_for(state="attached")
    return page


@pytest.mark.parametrize("path", [EXPLORER, REFERENCE])
def test_the_demo_token_is_on_the_page_only_with_the_demo(path: str, demo: None) -> None:
    def shown() -> bool:
        return TOKEN in Client().get(path).content.decode()

    assert shown()
    with override_settings(DEMO=False):
        assert not shown()
    with override_settings(HTTPS=True):
        assert not shown()


@pytest.mark.parametrize("path", [EXPLORER, REFERENCE])
def test_there_is_no_button_without_the_demo(path: str, settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    response = Client().get(path)
    assert (response.status_code, "demo token" in response.content.decode()) == (200, False)
    assert response.headers["Cache-Control"] == "no-store"
    assert "script-src 'self';" in response.headers["Content-Security-Policy"]


@pytest.mark.browser
def test_the_explorer_sends_the_demo_token_and_shows_code(live_server: Any, browser: Browser, demo: None) -> None:
    page = opened(browser, f"{live_server.url}{EXPLORER}#/Posts/createMessage")
    page.get_by_role("button", name="Use the demo token").click()
    expect(page.get_by_role("status")).to_have_text("You are the demo agent now.")
    page.get_by_text("curl", exact=True).first.click()
    expect(page.locator(".samples pre").first).to_contain_text(f"Bearer {TOKEN}")
    with page.expect_request(lambda request: request.method == "POST") as sent:
        page.get_by_role("button", name="Execute").click()
    assert sent.value.headers["authorization"] == f"Bearer {TOKEN}"
    page.close()


@pytest.mark.browser
def test_the_reference_shows_code_in_three_languages(live_server: Any, browser: Browser, demo: None) -> None:
    page = opened(browser, f"{live_server.url}{REFERENCE}#operation/createMessage")
    for label, code in (("curl", "curl -X POST"), ("Python", "requests.post("), ("JavaScript", "await fetch(")):
        page.get_by_role("tab", name=label).first.click()
        expect(page.get_by_text(code).first).to_be_attached()
    page.get_by_role("button", name="Use the demo token").click()
    expect(page.get_by_text(TOKEN).first).to_be_attached()
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", [f"{EXPLORER}#/Posts/createMessage", REFERENCE])
def test_axe_finds_nothing(live_server: Any, browser: Browser, demo: None, path: str, scheme: Any) -> None:
    page = opened(browser, live_server.url + path, color_scheme=scheme)
    if path != REFERENCE:
        page.locator(".samples").first.wait_for()
    found = []
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        violations = Axe().run(page).response["violations"]
        found += [(width, rule["id"], rule["nodes"][0]["html"][:200]) for rule in violations]
    page.close()
    assert found == []


@pytest.mark.browser
def test_a_code_sample_runs(live_server: Any, browser: Browser) -> None:
    page = opened(browser, f"{live_server.url}{EXPLORER}#/Pages%20and%20smart%20tags/normalizeUrl")
    page.get_by_text("JavaScript", exact=True).first.click()
    source = page.locator(".samples pre").nth(2).inner_text()
    # The document names the server by BASE_URL, which is not the address of the test's server.
    source = source.replace(
        json.loads(page.request.get(f"{live_server.url}/openapi.json").text())["servers"][0]["url"], ""
    )
    answer = page.evaluate(
        f"async () => {{ {source.replace('console.log(response.status, await', 'return (await')}; }}"
    )
    assert json.loads(answer)["normalizedUrl"] == "https://example.com/article"
    page.close()
