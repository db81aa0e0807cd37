"""Who prefers HTML gets a page for a refusal, everywhere but from the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import include, path

from tests.factories import PersonFactory

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
HTML, JSON, PROBLEM = "text/html; charset=utf-8", "application/json", "application/problem+json"


def get(url: str, accept: str | None = BROWSER, method: str = "GET", **headers: str) -> Any:
    client = Client(raise_request_exception=False, enforce_csrf_checks=True)
    sent = headers if accept is None else {"Accept": accept, **headers}
    return client.generic(method, url, headers=sent)


@pytest.mark.django_db
def test_a_browser_gets_a_page_for_a_wrong_address() -> None:
    others = (
        "*/*",
        JSON,
        None,
        "application/json, text/plain, */*",
        "text/html;q=0.4, */*;q=0.5",
        "text/html,*/*",
        "nonsense",
    )
    for url in ("/nowhere", "/docs/none", "/p/none", "/embed/none.js", "/static/none.css"):
        page = get(url)
        assert (page.status_code, page["Content-Type"]) == (404, HTML), url
        assert page.content.count(b"<h1>") == 1
        assert "unsafe" not in page["Content-Security-Policy"]
        for accept in others:
            refused = get(url, accept)
            assert refused.status_code == 404
            if not url.startswith("/p/"):
                assert refused["Content-Type"] == JSON, f"{url}: {accept}"
                assert "Accept" in refused["Vary"]


@pytest.mark.django_db
def test_the_api_answers_with_json_also_to_a_browser() -> None:
    for method, url, status in (
        ("GET", "/v1/agent/self", 401),
        *(("GET", url, 404) for url in ("/api/messages/none", "/feeds/pages/none.atom", "/api/nowhere", "/v2/posts")),
        *(("GET", "/api/messages/", 404), ("POST", "/v1/", 404), ("PATCH", "/api/messages", 405)),
        *(("GET", "/api/messages", 400), ("POST", "/mcp", 400)),
    ):
        for accept in (BROWSER, "text/html"):
            refused = get(url, accept, method)
            assert (refused.status_code // 100, refused["Content-Type"]) == (status // 100, JSON), url


def test_a_refusal_of_every_layer_is_a_page_with_its_headers() -> None:
    for method, url, headers, status in (
        ("POST", "/demo/", {}, 405),
        ("GET", "/", {"Host": "evil.example"}, 400),
        ("GET", "/nowhere", {"Content-Length": "9999999"}, 413),
    ):
        page = get(url, method=method, **headers)
        assert (page.status_code, page["Content-Type"]) == (status, HTML)
        assert status != 405 or page["Allow"] == "GET, HEAD"
        assert page["X-Request-ID"]
        assert page["Cache-Control"] == "private, no-store"
        assert b"evil" not in page.content


@pytest.mark.django_db
def test_a_form_without_its_token_gets_a_page_that_says_what_to_do() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(PersonFactory())
    for url in ("/admin/login/", "/account/me/mails/"):
        for accept in (BROWSER, "*/*"):
            page = client.post(url, headers={"Accept": accept})
            assert (page.status_code, page["Content-Type"]) == (403, HTML), url
            assert b"This form is no longer valid" in page.content


def test_the_page_names_addresses_like_the_wrong_one() -> None:
    for url, meant in (("/acount", "/account/"), ("/Demo", "/demo/"), ("/dmin/", "/admin/")):
        assert f'href="{meant}"' in get(url).content.decode(), url
    assert b"Did you mean" not in get("/" + "x" * 5000).content


def test_the_page_is_in_the_language_of_the_browser() -> None:
    page = get("/nowhere", **{"Accept-Language": "ar-EG, en;q=0.4"})
    assert b'lang="ar" dir="rtl"' in page.content
    assert page["Vary"] == "Accept, Accept-Language"


@pytest.mark.django_db
def test_a_refusal_has_the_form_of_rfc_9457_where_accept_names_it() -> None:
    for url, status in (("/v1/agent/self", 401), ("/api/messages", 400), ("/v2/none", 404), ("/nowhere", 404)):
        plain = get(url, JSON)
        for accept in (PROBLEM, f"{PROBLEM}, {JSON}", f"{JSON};q=0.5, {PROBLEM};q=0.6", f"*/*, {PROBLEM};q=0.1"):
            problem = get(url, accept)
            assert (problem.status_code, problem["Content-Type"]) == (status, PROBLEM), (url, accept)
            assert "Accept" in problem["Vary"]
            body = problem.json()
            assert (body["type"], body["status"], body["detail"]) == (body["docs"], status, body["message"])
            assert body["title"].lower().replace(" ", "_") == body["error"]
            assert body["requestId"] == problem["X-Request-ID"]
            assert body.keys() - {"type", "title", "status", "detail"} == plain.json().keys()
        for accept in (f"{PROBLEM};q=0", f"{JSON}, {PROBLEM};q=0.9", "*/*", "application/*"):
            assert get(url, accept)["Content-Type"] == JSON, (url, accept)
    assert get("/nowhere", f"text/html, {PROBLEM};q=0.5")["Content-Type"] == HTML
    assert get("/v1/smart-tags", PROBLEM)["Content-Type"] == JSON


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("secret detail")


urlpatterns = [path("broken", broken), path("", include("config.urls"))]
handler400 = "kernel.api.exception_handler.bad_request"
handler403 = "kernel.api.exception_handler.permission_denied"
handler404 = "kernel.api.exception_handler.not_found"
handler500 = "kernel.api.exception_handler.server_error"


@override_settings(ROOT_URLCONF=__name__)
def test_a_defect_is_a_page_with_the_number_of_the_request_and_no_details() -> None:
    page = get("/broken")
    assert (page.status_code, page["Content-Type"]) == (500, HTML)
    assert page["X-Request-ID"].encode() in page.content
    assert b"secret" not in page.content
    assert get("/broken", "*/*")["Content-Type"] == JSON
