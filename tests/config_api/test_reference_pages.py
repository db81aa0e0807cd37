"""Swagger UI and Redoc in a browser: code samples, the demo token, both colour schemes, accessibility.

The browser gets a part of the document: the libraries take minutes for all of it, and all operations have the same
parts.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client, override_settings
from django.urls import reverse
from playwright.sync_api import Browser, Page, Route, expect

from tests import axe

pytestmark = pytest.mark.django_db
EXPLORER, REFERENCE = "/api/docs/", "/api/redoc/"
# Both libraries render for seconds on a busy machine.
RENDERED = 120_000
TOKEN = "cag_of_the_demo"
# With and without a body, parameters of the path, the query and headers, one and several statuses.
OPERATIONS = {
    *("createMessage", "listMessages", "reportMessage", "normalizeUrl"),
    *("listEmbedInstances", "updateEmbedInstance", "deleteEmbedInstance"),
}


@pytest.fixture
def demo(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "demo.json").write_text(json.dumps({"agentToken": TOKEN}))


def opened(browser: Browser, url: str, **options: Any) -> Page:
    page = browser.new_page(**options)
    page.set_default_timeout(RENDERED)
    documents: list[str] = []

    def respond(route: Route) -> None:
        documents.append(route.request.url)
        route.fulfill(json=part_of(route.fetch().json()))

    page.route(f"**{reverse('schema')}*", respond)
    page.goto(url)
    page.get_by_text("/v1/presence/normalize-url").first.wait_for(state="attached")
    assert len(documents) == 1
    return page


def part_of(document: dict[str, Any]) -> dict[str, Any]:
    """The document with some of its operations, and the components that these refer to."""
    paths = {
        path: {method: each for method, each in methods.items() if each["operationId"] in OPERATIONS}
        for path, methods in document["paths"].items()
    }
    part: dict[str, Any] = {**document, "paths": {path: methods for path, methods in paths.items() if methods}}
    assert sum(map(len, part["paths"].values())) == len(OPERATIONS)
    part["components"] = {"securitySchemes": document["components"]["securitySchemes"]}
    pending = references(part["paths"])
    while pending:
        kind, name = pending.pop()
        if name not in part["components"].setdefault(kind, {}):
            component = part["components"][kind][name] = document["components"][kind][name]
            pending |= references(component)
    return part


def references(value: Any) -> set[tuple[str, str]]:
    found = re.findall(r'"#/components/(\w+)/([\w.-]+)"', json.dumps(value))
    return {(kind, name) for kind, name in found}


def test_the_demo_token_is_on_the_page_only_with_the_demo(demo: None) -> None:
    for path in (EXPLORER, REFERENCE):
        assert TOKEN in Client().get(path).content.decode()
        for changed in ({"DEMO": False}, {"HTTPS": True}):
            with override_settings(**changed):
                assert TOKEN not in Client().get(path).content.decode(), (path, changed)


def test_there_is_no_button_without_the_demo(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    for path in (EXPLORER, REFERENCE):
        response = Client().get(path)
        assert (response.status_code, "demo token" in response.content.decode()) == (200, False)
        assert response.headers["Cache-Control"] == "no-store"
        assert "script-src 'self';" in response.headers["Content-Security-Policy"]


def resize(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.browser
def test_the_explorer_is_accessible_shows_code_and_sends_the_demo_token(
    live_server: Any, browser: Browser, demo: None
) -> None:
    """Its colours do not depend on the width."""
    page = opened(browser, f"{live_server.url}{EXPLORER}#/Posts/createMessage", color_scheme="light")
    page.locator(".samples").first.wait_for()
    for width in (390, 1440):
        resize(page, width)
        assert axe.violations(page) == [], width
    page.close()
    page = opened(browser, f"{live_server.url}{EXPLORER}#/Posts/createMessage", color_scheme="dark")
    page.locator(".samples").first.wait_for()
    assert axe.violations(page, colours_only=True) == []
    page.get_by_role("button", name="Use the demo token").click()
    expect(page.get_by_role("status")).to_have_text("You are the demo agent now.")
    page.get_by_text("curl", exact=True).first.click()
    expect(page.locator(".samples pre").first).to_contain_text(f"Bearer {TOKEN}")
    with page.expect_request(lambda request: request.method == "POST") as sent:
        page.get_by_role("button", name="Execute").click()
    assert sent.value.headers["authorization"] == f"Bearer {TOKEN}"
    page.close()


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.browser
def test_the_reference_is_accessible_and_shows_code_in_three_languages(
    live_server: Any, browser: Browser, demo: None
) -> None:
    page = opened(browser, f"{live_server.url}{REFERENCE}#tag/Posts/operation/createMessage", color_scheme="light")
    for scheme, width in (("light", 390), ("dark", 1440)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        resize(page, width)
        assert axe.violations(page) == [], scheme
    described = page.locator("[id='tag/Posts/operation/createMessage']")
    for label, code in (("curl", "curl -X POST"), ("Python", "requests.post("), ("JavaScript", "await fetch(")):
        described.get_by_role("tab", name=label).click()
        expect(described.get_by_role("tabpanel", name=label)).to_contain_text(code, timeout=RENDERED)
    page.get_by_role("button", name="Use the demo token").click()
    expect(page.get_by_role("status")).not_to_be_empty()
    described.get_by_role("tab", name="curl").click()
    expect(described).to_contain_text(TOKEN, timeout=RENDERED)
    page.close()


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.browser
def test_a_code_sample_runs(live_server: Any, browser: Browser) -> None:
    page = opened(browser, f"{live_server.url}{EXPLORER}#/Pages/normalizeUrl")
    page.get_by_text("JavaScript", exact=True).first.click()
    source = page.locator(".samples pre").nth(2).inner_text()
    answer = page.evaluate(
        f"async () => {{ {source.replace('console.log(response.status, await', 'return (await')}; }}"
    )
    assert json.loads(answer)["normalizedUrl"] == "https://example.com/article"
    page.close()
