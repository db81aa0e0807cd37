"""The start page for people."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, expect

from tests import axe

pytestmark = pytest.mark.django_db
CLIPBOARD = ["clipboard-read", "clipboard-write"]
HTML = "text/html,*/*;q=0.8"


def page(language: str = "en") -> str:
    response = Client().get("/", headers={"Accept": HTML, "Accept-Language": language})
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_leads_each_reader_on_within_its_size() -> None:
    html = page()
    assert html.count("<h1>") == 1
    for address in ("/demo/", "/account/sites/new/", "/account/agents/request/", "/api/docs/", "/llms.txt"):
        assert f'href="{address}"' in html, address
    assert "/embed/v1.js" in html
    assert len(html.encode()) < 30_000


@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
def test_the_page_has_the_language_of_the_browser(language: str) -> None:
    assert f'<html lang="{language}" dir="{"rtl" if language == "ar" else "ltr"}">' in page(f"{language}, en;q=0.1")


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.browser
def test_samples_are_copied_and_nothing_is_wider_than_a_phone(live_server: Any, browser: Browser) -> None:
    for scheme, width in (("light", 1440), ("dark", 390)):
        context = browser.new_context(
            viewport={"width": width, "height": 844},
            color_scheme=scheme,
            permissions=["clipboard-write", "clipboard-read"],
        )
        shown = context.new_page()
        shown.goto(live_server.url)
        assert axe.violations(shown) == []
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        expect(shown.locator("section:visible")).to_have_count(4)
        shown.locator("#run button").click()
        expect(shown.locator("#run button")).to_have_text("Copied")
        assert shown.evaluate("navigator.clipboard.readText()") == "make run"
        context.close()
