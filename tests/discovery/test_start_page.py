"""The start page for people."""

from __future__ import annotations

import json
import re
from pathlib import Path
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
    for address in ("/account/sign-up/", "/account/sign-in/"):
        assert f'href="{address}"' in html, address
    copied = re.findall(r"<pre[^>]*><code[^>]*>(.*?)</code>", html)
    assert 1 <= len(copied) <= 2
    assert not [text for text in copied if re.search(r"[A-Z]+_[A-Z]+", text)], "one has to be filled in"
    assert "/embed/v1.js" not in html, "there is no demo"
    assert len(html.encode()) < 30_000


def test_the_page_shows_the_discussion_of_the_demo(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR, settings.REGISTRATION_OPEN = tmp_path, False
    embed, url = "01890a5d-ac96-774b-bcce-b302099a8057", "https://harbour.example/light"
    (tmp_path / "demo.json").write_text(json.dumps({"embedId": embed, "pageUrl": url}))
    response = Client().get("/", headers={"Accept": HTML})
    html = response.content.decode()
    assert f'data-service-id="{embed}" data-page-url="{url}"' in html
    assert "/embed/v1.js" in html
    assert f"frame-src {settings.APP_URL}" in response.headers["Content-Security-Policy"]
    assert response.headers["Cross-Origin-Opener-Policy"] == "unsafe-none"
    assert "/account/sign-up/" not in html, "nobody may register"


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
        expect(shown.locator("section:visible")).to_have_count(3)
        shown.locator("#run button").click()
        expect(shown.locator("#run button")).to_have_text("Copied")
        assert shown.evaluate("navigator.clipboard.readText()") == "make run"
        context.close()
