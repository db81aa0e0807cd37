"""`X-Request-ID`: of every response, of a trusted proxy or new, and on every log line of the request."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import include, path

from config.logging import LOGGING
from kernel.api.middleware import RequestIdMiddleware
from kernel.request_ids import NO_REQUEST, RequestIdFilter, current
from tests.agents.factories import agent_with_token
from tests.api import Answer, Api
from tests.factories import PageFactory

pytestmark = pytest.mark.django_db
HEADER = "X-Request-ID"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
HOSTILE = [
    *("", " ", "a b", "a\tb", "a,b", "a;b", "a/b", "a\\b", '"a"', "<script>", "{a}", "%0d%0a", "a:b", "a\x00b"),
    *("x" * 129, "é", "\xff", "ａ", "a\n", "a\r\nSet-Cookie: b=c", "${jndi:ldap://a}", "cag_" + "A" * 200),
]


RESPONSES = [
    *(("GET", url) for url in ("/v1/smart-tags", "/api/messages", "/nowhere", "/", "/demo/", "/admin/", "/admin/x")),
    *(("GET", url) for url in ("/embed/v1.js", "/static/pages/icon.svg", "/static/none", "/api/schema/")),
    *(("GET", url) for url in ("/api/docs/", "/docs/errors/", "/docs/errors/not_found", "/v1/changes/stream")),
    *(("HEAD", "/v1/smart-tags"), ("POST", "/api/messages"), ("POST", "/admin/login/"), ("PATCH", "/api/messages")),
]


def test_every_response_has_its_own_id() -> None:
    client = Client(enforce_csrf_checks=True)
    for method, url in RESPONSES:
        ids = [client.generic(method, url).headers[HEADER] for _ in range(2)]
        assert all(UUID.fullmatch(request_id) for request_id in ids), url
        assert ids[0] != ids[1], url


def test_a_304_and_a_preflight_have_an_id() -> None:
    read = Api().get("/v1/smart-tags")
    assert UUID.fullmatch(Api().get("/v1/smart-tags", headers={"If-None-Match": read.headers["ETag"]}).headers[HEADER])
    preflight = {"Origin": "https://a.eu", "Access-Control-Request-Method": "GET"}
    assert UUID.fullmatch(Api().send("OPTIONS", "/v1/smart-tags", headers=preflight).headers[HEADER])


def test_web_pages_may_read_the_id() -> None:
    exposed = Api().get("/v1/smart-tags", headers={"Origin": "https://a.eu"}).headers["Access-Control-Expose-Headers"]
    assert HEADER in exposed.split(", ")


def test_only_a_trusted_proxy_names_the_id(settings: Any) -> None:
    def answer(sent: str, path: str = "/v1/smart-tags", address: str = "10.1.2.3") -> Answer:
        return Api().send("GET", path, headers={HEADER: sent}, address=address)

    assert UUID.fullmatch(answer("a").headers[HEADER])
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    for sent in ("a", "A-Za-z_0.9", "x" * 128, "0123456789abcdef" * 2):
        assert answer(sent).headers[HEADER] == sent
        refused = answer(sent, "/nowhere")
        assert (refused.headers[HEADER], refused.json["requestId"]) == (sent, sent)
        assert UUID.fullmatch(answer(sent, address="192.0.2.1").headers[HEADER])


def test_a_malformed_id_of_a_proxy_is_replaced(settings: Any) -> None:
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    for sent in HOSTILE:
        request = RequestFactory().get("/", HTTP_X_REQUEST_ID=sent)
        response = RequestIdMiddleware(lambda _request: HttpResponse())(request)
        assert UUID.fullmatch(response.headers[HEADER]), ascii(sent)


def test_a_replay_has_its_own_id_and_the_stored_bytes() -> None:
    agent, body = agent_with_token(), {"pageId": PageFactory().pk, "content": "x"}
    first, replay = (agent.api.post("/api/messages", body, key="k") for _ in range(2))
    assert (replay.headers["Idempotent-Replayed"], replay.body) == ("true", first.body)
    assert replay.headers[HEADER] != first.headers[HEADER]


def logs(request: HttpRequest) -> HttpResponse:
    logging.getLogger("some.module").warning("A line")
    return HttpResponse()


def breaks(request: HttpRequest) -> HttpResponse:
    raise RuntimeError


urlpatterns = [path("logs", logs), path("breaks", breaks), path("", include("config.urls"))]
handler500 = "kernel.api.exception_handler.server_error"


def test_every_log_line_of_a_request_has_its_id(settings: Any, caplog: pytest.LogCaptureFixture) -> None:
    settings.ROOT_URLCONF = __name__
    caplog.handler.addFilter(RequestIdFilter())
    client = Client(raise_request_exception=False)
    answers = [client.get(url) for url in ("/logs", "/breaks", "/logs")]
    logged = [record.request_id for record in caplog.records]  # type: ignore[attr-defined]
    assert logged == [answer.headers[HEADER] for answer in answers]
    assert answers[1].json()["requestId"] == logged[1]
    logging.getLogger("some.module").warning("Between requests")
    assert (caplog.records[-1].request_id, current()) == (NO_REQUEST, NO_REQUEST)  # type: ignore[attr-defined]


def test_the_log_of_the_service_has_the_id_in_each_line() -> None:
    assert "{request_id}" in LOGGING["formatters"]["line"]["format"]
    assert all(handler["filters"] == ["request_id"] for handler in LOGGING["handlers"].values())
