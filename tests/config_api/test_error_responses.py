"""A failure of any layer is a JSON refusal: routing, host, path, method, view, database."""

from __future__ import annotations

from itertools import product
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import orjson
import psycopg
import pytest
from django.db import DataError, InterfaceError, InternalError, OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kernel.api.operations import all_operations
from tests.agents.factories import agent_with_token
from tests.api import HANDLER, Api
from tests.factories import PageFactory, PersonFactory

pytestmark = pytest.mark.django_db


def send(method: str, url: str, **options: Any) -> tuple[int, Any, HttpResponse]:
    client = Client(raise_request_exception=False)
    client.handler = HANDLER
    response: Any = client.generic(method, url, options.pop("body", b""), content_type="application/json", **options)
    assert response.headers["Content-Type"] == "application/json", f"{method} {url}: {response.content[:200]!r}"
    return response.status_code, orjson.loads(response.content) if response.content else None, response


UNKNOWN = [
    *("/nowhere", "/api", "/api/", "/v1/", "/api/messages/", "/v1/reactions/", "/v1/agent-tokens/requests/1/2/3"),
    *("//api/messages", "/api//messages", "/%00", "/api/messages%00", "/%ff%fe", "/%", "/%zz", "/" + "a" * 5000),
    *("/static/none.css", "/static/%00", "/static/../manage.py", "/static/..%2fmanage.py", "/api/%2e%2e/manage.py"),
    "/favicon.ico",
]


def test_an_unknown_path_is_404() -> None:
    for method, url in product(("GET", "POST"), UNKNOWN):
        status, body, _response = send(method, url)
        assert (status, body["error"]) == (404, "not_found"), f"{method} {url}"


def test_a_malformed_id_in_a_path_is_404() -> None:
    codes = {"/api/messages": "message_not_found", "/v1/reactions": "message_not_found"}
    for url, code in (codes | {"/api/embeds/config": "embed_not_found"}).items():
        for wrong in ("%00", "%ff", "%ED%A0%80", "%", "x", "1", "a" * 3000, "%0a", "'--", "٣"):
            for suffix in ("", "%0a"):
                response = Api().get(f"{url}/{wrong}{suffix}")
                assert (response.status, response.error) in {(404, code), (404, "not_found")}, f"{url}/{wrong}{suffix}"
        assert Api().get(f"{url}/{uuid4()}%0a").status == 404


def test_a_hostile_query_is_400() -> None:
    page = f"pageId={PageFactory().pk}"
    queries = [f"pageId={value}" for value in ("%00", "%ff", "%", "%ED%A0%80")]
    queries += [f"{page}&{name}=%00" for name in ("tagType", "authorKind", "communityId", "cursor", "limit")]
    queries += [f"{page}&cursor=%ff", f"{page}&limit=%ff", "&".join(f"x{n}=1" for n in range(2000))]
    for query in queries:
        status, body, _response = send("GET", f"/api/messages?{query}")
        assert (status, "error" in body) == (400, True), query


QUERY = ["pageId", "parentId", "limit", "cursor", "includeTopReply", "authorKind", "communityId", "tagType"]
PATHS = ["/", "/api/messages/", "/v1/reactions/", "/api/embeds/config/", "/static/", "/v1/agent-tokens/"]
VALUES = st.dictionaries(st.sampled_from(QUERY), st.binary(max_size=12), max_size=4)


@hypothesis_settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=st.sampled_from(PATHS), rest=st.binary(max_size=20), query=VALUES)
def test_no_url_causes_a_5xx(start: str, rest: bytes, query: dict[str, bytes]) -> None:
    good = {"pageId": PageFactory.build().pk}
    assert Api().get("/api/messages", **(good | query)).status in {200, 400}
    client = Client()
    client.handler = HANDLER
    assert client.get(start + quote(rest)).status_code < 500


def test_other_methods_of_an_operation_are_405_with_allow() -> None:
    allowed: dict[str, set[str]] = {}
    for route, method, _held in all_operations():
        allowed.setdefault("/" + route.replace("<str:id>", "x").replace("<str:serviceId>", "x"), set()).add(method)
    assert len(allowed) > 20
    for url, methods in allowed.items():
        expected = methods | ({"HEAD"} if "GET" in methods else set())
        for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} - expected:
            status, body, response = send(method, url)
            assert status == 405, url
            assert method == "HEAD" or body["error"] == "method_not_allowed", url
            assert {name.strip() for name in response.headers["Allow"].split(",")} == expected, f"{method} {url}"


def test_head_has_the_status_and_headers_of_get_and_no_body() -> None:
    for url, status in (
        ("/v1/smart-tags", 200),
        ("/api/messages?pageId=p1_" + "a" * 32, 200),
        (f"/api/messages/{uuid4()}", 404),
    ):
        head, get = Api().send("HEAD", url), Api().get(url)
        assert (head.status, get.status, head.body) == (status, status, b"")
        assert head.headers["Content-Type"] == get.headers["Content-Type"]


def test_a_host_outside_allowed_hosts_is_400() -> None:
    hosts = ("evil.example", "a b", "", "127.0.0.1:8000:1", "x" * 300, "[::1", "\xff")
    for url, host in product(("/v1/smart-tags", "/nowhere", "/api/schema/"), hosts):
        status, body, _response = send("GET", url, headers={"Host": host})
        assert (status, body["error"]) == (400, "invalid_input"), (url, host)


def test_a_body_without_a_length_is_411_and_one_over_the_cap_413() -> None:
    for coding in ("chunked", "Chunked", "gzip, chunked"):
        status, body, _response = send("POST", "/v1/presence/normalize-url", headers={"Transfer-Encoding": coding})
        assert (status, body["error"]) == (411, "length_required"), coding
    for length in ("1048577", "9" * 30):
        status, body, _response = send("POST", "/v1/presence/normalize-url", CONTENT_LENGTH=length)
        assert (status, body["error"], body["field"], body["max"]) == (413, "payload_too_large", "body", 1048576)


def test_every_response_is_json_for_any_accept_header() -> None:
    for accept in ("text/html", "image/png", "application/xml;q=0.9", "nonsense", "*/*;q=0", "%00"):
        assert send("GET", "/v1/smart-tags", headers={"Accept": accept})[0] == 200, accept


@pytest.mark.parametrize("condition", [{"If-Match": '"x"'}, {"If-Unmodified-Since": "Thu, 01 Jan 2015 00:00:00 GMT"}])
def test_a_read_evaluates_only_if_none_match(condition: dict[str, str]) -> None:
    for api in (Api(), agent_with_token().api):
        for url in ("/v1/smart-tags", f"/api/messages?pageId={PageFactory().pk}"):
            read = api.get(url, headers=condition)
            assert (read.status, read.headers["Content-Type"]) == (200, "application/json")
            again = api.get(url, headers=condition | {"If-None-Match": read.headers["ETag"]})
            assert (again.status, again.body, again.headers["ETag"]) == (304, b"", read.headers["ETag"])
            assert "Content-Type" not in again.headers


def test_refusals_of_the_openapi_document_are_json() -> None:
    for url in ("/api/schema/", "/api/docs/", "/api/redoc/"):
        image, other = send("GET", url, headers={"Accept": "image/png"}), send("GET", f"{url}?format=nonsense")
        codes = [(status, body["error"]) for status, body, _response in (send("POST", url), image, other)]
        assert codes == [(405, "method_not_allowed"), (406, "not_acceptable"), (404, "not_found")], url


class Broken(Exception):
    pass


FAILURES: dict[str, Exception] = {
    "defect": Broken("secret detail"),
    "recursion": RecursionError("secret detail"),
    "data": DataError("secret detail"),
    "operational": OperationalError("secret detail"),
    "interface": InterfaceError("secret detail"),
    # Raised by the client: a pooler sent the last words of a server behind the answer to BEGIN.
    "two results": InternalError("received 2 results from command 'BEGIN'"),
    "corrupted": InternalError("secret detail"),
}
FAILURES["corrupted"].__cause__ = psycopg.errors.DataCorrupted("secret detail")


def breaks(request: HttpRequest, how: str) -> HttpResponse:
    raise FAILURES[how]


urlpatterns = [path("broken/<str:how>", breaks), path("", include("config.urls"))]
handler400, handler403 = "kernel.api.exception_handler.bad_request", "kernel.api.exception_handler.permission_denied"
handler404, handler500 = "kernel.api.exception_handler.not_found", "kernel.api.exception_handler.server_error"


def test_a_defect_is_500_without_details_and_an_unavailable_database_503(settings: Any) -> None:
    settings.ROOT_URLCONF = __name__
    for how in ("defect", "recursion", "data", "corrupted"):
        status, body, _response = send("GET", f"/broken/{how}")
        assert (status, body["error"], "secret" in str(body)) == (500, "internal_error", False), how
    for how in ("operational", "interface", "two results"):
        status, body, response = send("GET", f"/broken/{how}")
        assert (status, body["error"], body["retryAfter"]) == (503, "temporarily_unavailable", 2), how
        assert response.headers["Retry-After"] == "2"


def test_a_defect_in_an_operation_is_500(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: Any, **_kwargs: Any) -> None:
        raise Broken

    monkeypatch.setattr("messaging.posts.queries.visible_message", broken)
    status, body, _response = send("GET", f"/api/messages/{uuid4()}")
    assert (status, body["error"]) == (500, "internal_error")


@pytest.mark.django_db(transaction=True)
def test_every_operation_is_503_without_a_database() -> None:
    agent, page, person = agent_with_token(), PageFactory(), Api.as_person(PersonFactory()).credentials
    token = agent.api.credentials["Authorization"]
    connection.close()
    name, connection.settings_dict["NAME"] = connection.settings_dict["NAME"], "gone"
    try:
        calls = [
            send("GET", f"/api/messages?pageId={page.pk}"),
            send("GET", f"/api/messages/{uuid4()}"),
            send("GET", "/v1/agent/self", headers={"Authorization": token}),
            send("POST", "/api/messages", headers={"Authorization": token}, body=b"{}"),
            send("GET", "/v1/changes"),
            send("GET", "/v1/changes?tail=true"),
            send("GET", "/v1/inbox", headers={"Authorization": token}),
            send("GET", "/v1/inbox", headers=person),
            send("POST", "/v1/inbox/read", headers=person, body=b'{"cursor": "x"}'),
            send("POST", "/v1/presence/normalize-url", body=b'{"url": "https://a.eu"}'),
            send("POST", "/api/auth/login", body=b'{"handle": "abc", "password": "12345678"}'),
        ]
    finally:
        connection.close()
        connection.settings_dict["NAME"] = name
    assert {(status, body["error"]) for status, body, _response in calls} == {(503, "temporarily_unavailable")}
    assert {response.headers["Retry-After"] for *_rest, response in calls} == {"2"}
    assert agent.api.get("/v1/agent/self").status == 200
