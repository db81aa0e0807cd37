"""GET /docs/errors/ and /docs/errors/{code}: what a code means, as HTML, JSON and Markdown."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver
from playwright.sync_api import Browser, Request

from kernel.api.exceptions.base import errors_by_code
from tests.openapi import document
from tests.widget.test_accessibility import violations_of

INDEX = "/docs/errors/"
assert get_resolver().url_patterns
CODES = list(errors_by_code())


def get(url: str, accept: str = "text/html,*/*;q=0.8") -> Any:
    return Client().get(url, headers={"Accept": accept})


def test_every_code_has_a_page_of_its_texts() -> None:
    for code, error in errors_by_code().items():
        html = get(f"{INDEX}{code}")
        assert (html.status_code, html.headers["Content-Type"]) == (200, "text/html; charset=utf-8"), code
        data = get(f"{INDEX}{code}", "application/json").json()
        assert (data["error"], data["status"]) == (code, error.status_code)
        assert (data["cause"], data["remedy"]) == (error.cause, error.remedy), code
        assert data["example"]["error"].partition(":")[0] == code
        assert data["example"]["docs"] == data["docs"] == f"http://127.0.0.1:8000{INDEX}{code}"
        markdown = get(f"{INDEX}{code}", "text/markdown")
        text = markdown.content.decode()
        assert markdown.headers["Content-Type"] == "text/markdown; charset=utf-8"
        assert text.startswith(f"# `{code}` ({error.status_code})\n")
        assert all(each in text for each in (error.cause, error.remedy, data["example"]["message"])), code


def test_index_lists_every_code() -> None:
    html, markdown = get(INDEX).content.decode(), get(INDEX, "text/markdown").content.decode()
    assert set(re.findall(rf'href="{INDEX}(\w+)"', html)) == set(CODES)
    assert [row["error"] for row in get(INDEX, "application/json").json()["errors"]] == CODES
    assert [code for code in CODES if f"[`{code}`]" not in markdown] == []


def test_examples_have_the_shape_of_refusals() -> None:
    required = document()["components"]["schemas"]["Error"]["required"]
    for row in get(INDEX, "application/json").json()["errors"]:
        assert set(required) <= row["example"].keys(), row["error"]
        retry_after = row["example"].get("retryAfter")
        assert row["headers"].get("Retry-After") == (None if retry_after is None else str(retry_after))


def test_a_code_with_a_suffix_has_the_page_of_its_first_part() -> None:
    for code in ("agent_scope_missing:post", "agent_scope_missing:x:y", "not_found:"):
        answer = get(f"{INDEX}{code}", "application/json")
        assert (answer.status_code, answer.json()["error"]) == (200, code.partition(":")[0])


def test_an_unknown_code_is_404() -> None:
    for code in ("nothing", "NOT_FOUND", ":", "not_found/", "%00", "<script>", "a" * 5000, "../errors"):
        answer = get(f"{INDEX}{code}", "application/json")
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found"), code
        page = get(f"{INDEX}{code}", "text/html")
        assert (page.status_code, page.headers["Content-Type"]) == (404, "text/html; charset=utf-8"), code
        assert b"<script>" not in answer.content + page.content


def test_the_address_without_a_slash_redirects() -> None:
    assert get("/docs/errors").headers["Location"] == INDEX


def test_format_follows_accept() -> None:
    kinds = {
        "": "text/html",
        "*/*": "text/html",
        "image/png": "text/html",
        "text/*": "text/html",
        "text/markdown, text/html;q=0.5": "text/markdown",
        "application/*": "application/json",
        "nonsense": "text/html",
    }
    for accept, kind in kinds.items():
        answer = get(INDEX, accept)
        assert (answer.status_code, answer.headers["Content-Type"].partition(";")[0]) == (200, kind), accept
        assert answer.headers["Vary"] == "Accept"


def test_pages_are_static_and_load_only_local_styles() -> None:
    for url in (INDEX, f"{INDEX}not_found"):
        answer = get(url)
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'self'")
        html = answer.content.decode()
        loaded = re.findall(r"""<(?:script|link|img)\b[^>]*?(?:src|href)="([^"]+)""", html)
        assert loaded
        assert all(Client().get(path).status_code == 200 for path in loaded)
        assert "<script" not in html


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_pages_are_accessible_and_send_no_foreign_request(live_server: Any, browser: Browser) -> None:
    page = browser.new_page()
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))  # noqa: PLW0108  playwright marks its handlers
    for url in (INDEX, f"{INDEX}agent_scope_missing"):
        page.goto(live_server.url + url)
        assert violations_of(page) == []
    page.close()
    assert all(request.url.startswith(live_server.url) for request in requests)
