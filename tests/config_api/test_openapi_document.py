"""The OpenAPI 3.1.1 document, and Swagger UI and ReDoc, which load this server's files only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from playwright.sync_api import Browser, Request

from tests.browser import PATIENCE_MS
from tests.openapi import document, properties_of, published, resolved

pytestmark = pytest.mark.django_db
SCHEMES = {"agentToken", "userToken", "userId", "signInToken"}


def test_the_document_is_openapi_3_1_1_of_version_1_0_0() -> None:
    served = orjson.loads(Client().get("/api/schema/?format=json").content)
    assert (served["openapi"], served["info"]["version"]) == ("3.1.1", "1.0.0")
    assert served["paths"].keys() == document()["paths"].keys()
    assert served["components"]["securitySchemes"].keys() == SCHEMES


def test_the_introduction_lists_every_code_of_401() -> None:
    described = document()
    operations = [operation for methods in described["paths"].values() for operation in methods.values()]
    refused = [re.findall(r"`(\w+)`", operation["responses"]["401"]["description"]) for operation in operations]
    assert {code for codes in refused for code in codes} == {
        *("not_authenticated", "invalid_token", "token_expired", "token_revoked", "invalid_credentials"),
        "agent_suspended",
        *("second_factor_required", "invalid_second_factor", "panel_session_ended"),
        *("invalid_site_token", "site_token_used"),
    }
    assert all(f"`{code}`" in described["info"]["description"] for codes in refused for code in codes)


def test_every_operation_has_a_group() -> None:
    described = document()
    groups = [tag["name"] for tag in described["tags"]]
    operations = [operation for methods in described["paths"].values() for operation in methods.values()]
    used = {tag for operation in operations for tag in operation["tags"]}
    assert used == set(groups), "no group is empty, none is missing"
    assert groups[0] == "Posts", "posts are the first group"


def test_the_default_format_is_yaml() -> None:
    response = Client().get("/api/schema/")
    assert response.status_code == 200
    assert response.content.startswith(b"openapi: 3.1.1")


@pytest.mark.parametrize("path", ["/api/docs/", "/api/redoc/"])
def test_swagger_and_redoc_load_local_assets_only(path: str) -> None:
    response = Client().get(path)
    assert response.status_code == 200
    html = response.content.decode()
    loaded = re.findall(r"""<(?:script|link|img)\b[^>]*?(?:src|href)="([^"]+)""", html)
    assert len(loaded) >= 1
    assert not [url for url in loaded if urlsplit(url).netloc], "local addresses only"
    assert not re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", html), "no foreign host anywhere"
    for url in loaded:
        assert Client().get(url).status_code == 200, url


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.browser
def test_swagger_and_redoc_render_and_send_no_foreign_request(live_server: Any, browser: Browser) -> None:
    page = browser.new_page()
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))  # noqa: PLW0108  playwright marks its handlers
    for path in ("/api/docs/", "/api/redoc/"):
        page.goto(live_server.url + path)
        page.get_by_text("/v1/presence/normalize-url").first.wait_for(timeout=PATIENCE_MS)
    page.close()
    assert len(requests) > 6
    elsewhere = [request for request in requests if not request.url.startswith((live_server.url, "data:", "blob:"))]
    assert {request.failure for request in elsewhere} <= {"csp"}, "blocked by the Content-Security-Policy"


def test_every_documented_error_has_a_shared_component() -> None:
    schemas = document()["components"]["schemas"]
    for path, methods in document()["paths"].items():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                if status < "400":
                    continue
                component = response["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
                assert component in ("LimitError", "Error"), f"{path}: {status}"
                assert status != "413" or "content_too_long" not in response["description"] or component == "LimitError"
    assert {"error", "message", "requestId", "docs"} <= set(schemas["Error"]["required"])
    error, limits = schemas["LimitError"]["allOf"]
    assert error["$ref"].endswith("/Error")
    assert {"field", "max"} <= set(limits["required"])
    assert limits["properties"]["error"]["enum"] == ["content_too_long", "payload_too_large"]


def test_what_is_not_charged_has_no_limits() -> None:
    post, (edit, delete) = (
        document()["paths"]["/api/messages"]["post"],
        (document()["paths"]["/api/messages/{id}"][method] for method in ("put", "delete")),
    )
    assert "RateLimit" in post["responses"]["201"]["headers"]
    assert "agent_rate_limited" in str(post)
    for operation in (edit, delete):
        assert "RateLimit" not in operation["responses"]["200"].get("headers", {})
        assert "agent_rate_limited" not in str(operation)


# Bytes of compact JSON for each operation, components included: docs/decisions/0054.
SIZE_MAX = 1_700


def test_the_document_stays_small() -> None:
    operations = [operation for methods in published()["paths"].values() for operation in methods.values()]
    body = Client().get("/openapi.json").content
    assert b": " not in body[:50], "compact"
    assert len(body) / len(operations) <= SIZE_MAX


def test_every_parameter_and_field_has_a_description() -> None:
    missing = [
        where
        for name, schema in published()["components"]["schemas"].items()
        for where, part in _fields(name, schema)
        if not (part.get("description") or resolved(part).get("description"))
    ]
    missing += [
        f"{operation['operationId']}.{parameter['name']}"
        for methods in document()["paths"].values()
        for operation in methods.values()
        for parameter in operation["parameters"]
        if not parameter.get("description")
    ]
    assert missing == []


def _fields(where: str, schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each field of an object, and of the objects in it."""
    for name, part in properties_of(schema).items():
        yield f"{where}.{name}", part
        if "$ref" not in _object_of(part):
            yield from _fields(f"{where}.{name}", _object_of(part))


def _object_of(schema: dict[str, Any]) -> dict[str, Any]:
    schema = schema.get("items", schema)
    alternative: dict[str, Any] = schema.get("oneOf", [schema])[0]
    return alternative


def test_the_document_names_server_license_and_contact(settings: Any) -> None:
    settings.API_LICENSE, settings.API_LICENSE_URL = "Apache 2.0", "https://www.apache.org/licenses/LICENSE-2.0"
    settings.API_CONTACT = "mailto:api@example.com"
    described = SchemaGenerator().get_schema(request=None, public=True)
    assert described["servers"] == [{"url": settings.BASE_URL}]
    assert described["info"]["license"] == {"name": settings.API_LICENSE, "url": settings.API_LICENSE_URL}
    assert described["info"]["contact"] == {"email": "api@example.com"}
    settings.API_LICENSE, settings.API_CONTACT = "", "https://example.com/contact"
    described = SchemaGenerator().get_schema(request=None, public=True)
    assert "license" not in described["info"]
    assert described["info"]["contact"] == {"url": "https://example.com/contact"}
