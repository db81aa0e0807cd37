"""Security headers on every path, from every layer, on refusals too."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client, RequestFactory, override_settings

from kernel.api.exception_handler import csrf_failure
from tests.api import refusal_of
from tests.fresh_settings import fresh_settings

pytestmark = pytest.mark.django_db
MISSING = "0199f000-0000-7000-8000-000000000000"
PAGES = ("/", "/demo/", "/embed/panel", "/embed/sign-in", "/api/docs/", "/api/redoc/", "/admin/login/", "/admin/none")
FILES = ("/embed/v1.js", "/static/embed/v1.js", "/static/nowhere", "/api/schema/")
READS = ("/v1/smart-tags", f"/api/messages/{MISSING}", "/nowhere", "/v1/%FF", "/admin/")
ANSWERS = [
    *(("GET", path) for path in (*PAGES, *FILES, *READS)),
    *(("POST", path) for path in ("/v1/reactions", "/api/auth/login", "/", "/admin/login/", "/embed/sign-in")),
    *(("PATCH", "/api/messages"), ("OPTIONS", "/api/messages"), ("TRACE", "/v1/smart-tags")),
]
SECRETS = {name: f"{name}-{'s' * 50}" for name in ("SECRET_KEY", "ROOT_KEY", "TOKEN_PEPPER")}


def directives(answer: Any) -> dict[str, str]:
    parts = answer.headers["Content-Security-Policy"].split("; ")
    return {name: value for name, _, value in (part.partition(" ") for part in parts)}


def test_every_response_has_the_security_headers() -> None:
    for method, path in ANSWERS:
        answer = Client(enforce_csrf_checks=True).generic(method, path)
        assert answer.status_code < 500, (method, path)
        assert answer.headers["X-Content-Type-Options"] == "nosniff", (method, path)
        assert answer.headers["Referrer-Policy"] in {"same-origin", "no-referrer"}, (method, path)
        policy = directives(answer)
        assert policy["base-uri"] == "'none'", (method, path)
        assert policy["default-src"] in {"'none'", "'self'"}, (method, path)
        if path != "/embed/panel":
            assert policy["frame-ancestors"] == "'none'", (method, path)
        assert "unsafe-eval" not in answer.headers["Content-Security-Policy"], (method, path)
        # Swagger UI and ReDoc use inline scripts and styles.
        assert ("unsafe-inline" in answer.headers["Content-Security-Policy"]) == (
            path in {"/api/docs/", "/api/redoc/"}
        ), (method, path)


def test_csrf_failure_is_json_except_in_the_admin() -> None:
    refused = Client(enforce_csrf_checks=True).post("/admin/login/")
    assert (refused.status_code, refused.headers["Content-Type"]) == (403, "text/html; charset=utf-8")
    elsewhere = csrf_failure(RequestFactory().post("/a-form"))
    assert (elsewhere.status_code, refusal_of(elsewhere.content)) == (403, {"error": "forbidden"})


def test_the_api_sets_and_reads_no_cookie() -> None:
    client = Client()
    client.cookies["sessionid"] = "x"
    for path in ("/v1/smart-tags", "/", "/embed/sign-in", "/api/docs/", "/nowhere"):
        assert "Set-Cookie" not in client.get(path).headers


@pytest.fixture
def in_production(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The settings of a service with BASE_URL https://service.example."""
    return fresh_settings(monkeypatch, {**SECRETS, "BASE_URL": "https://service.example", "DEBUG": "0"})


def test_production_serves_https_only(in_production: dict[str, Any]) -> None:
    names = [name for name in in_production if name.startswith(("SECURE_", "SESSION_", "CSRF_", "ALLOWED_HOSTS"))]
    with override_settings(**{name: in_production[name] for name in names}):
        plain = Client().get("/v1/smart-tags", headers={"Host": "service.example"})
        assert (plain.status_code, plain.headers["Location"]) == (301, "https://service.example/v1/smart-tags")
        # The proxy reports the scheme.
        forwarded = {"Host": "service.example", "X-Forwarded-Proto": "https"}
        answer = Client().get("/account/sign-in/", headers=forwarded)
    assert answer.status_code == 200
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    cookie = answer.cookies["__Host-csrftoken"]
    assert (cookie["secure"], cookie["samesite"]) == (True, "Lax")
    assert in_production["SESSION_COOKIE_SECURE"] is True


def test_unknown_host_is_refused() -> None:
    refused = Client().get("/v1/smart-tags", headers={"Host": "evil.example"})
    assert refused.status_code == 400
    assert refused.json()["error"] == "invalid_input"
