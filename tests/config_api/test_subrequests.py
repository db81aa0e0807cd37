"""Subrequests: who sends them is passed on, what else the gateway's request has is not."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import orjson
import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse
from django.urls import resolve

from kernel.api import subrequests
from kernel.api.context import ApiContext
from tests.agents.factories import agent_with_token

OUTER = {
    "REQUEST_METHOD": "POST",
    "PATH_INFO": "/mcp",
    "QUERY_STRING": "outer=1",
    "SERVER_NAME": "testserver",
    "SERVER_PORT": "80",
    "REMOTE_ADDR": "203.0.113.9",
    "CONTENT_TYPE": "text/plain",
    "CONTENT_LENGTH": "5",
    "wsgi.input": BytesIO(b"outer"),
    "wsgi.url_scheme": "http",
    "community_messaging.request_id": "the-id",
    "HTTP_HOST": "service.example",
    "HTTP_AUTHORIZATION": "Bearer x",
    "HTTP_X_USER_ID": "someone",
    "HTTP_X_FORWARDED_FOR": "198.51.100.1",
    "HTTP_COOKIE": "sessionid=1",
    "HTTP_IDEMPOTENCY_KEY": "outer",
    "HTTP_IF_NONE_MATCH": "*",
    "HTTP_ORIGIN": "https://page.example",
    "HTTP_X_SERVICE_EMBED_ID": "embed",
}


def sent(method: str, path: str, **parts: Any) -> HttpRequest:
    """The subrequest that the middlewares get."""
    seen: list[HttpRequest] = []

    def respond(request: HttpRequest) -> HttpResponse:
        seen.append(request)
        return HttpResponse()

    request: Any = WSGIRequest(dict(OUTER))
    request.api = ApiContext(request, resolve("/mcp"), respond)
    subrequests.send(request, method, path, **parts)
    return seen[0]


def test_passes_on_who_sends_the_request_and_from_where() -> None:
    request = sent("GET", "/api/messages")
    for name in ("HTTP_HOST", "HTTP_AUTHORIZATION", "HTTP_X_USER_ID", "HTTP_X_FORWARDED_FOR", "REMOTE_ADDR"):
        assert request.META[name] == OUTER[name]
    assert request.META["community_messaging.request_id"] == "the-id"


def test_passes_on_no_other_header() -> None:
    request = sent("GET", "/api/messages")
    assert {name for name in request.META if name.startswith("HTTP_")} == subrequests.PASSED
    assert (request.META["QUERY_STRING"], request.body, request.COOKIES) == ("", b"", {})


def test_sends_query_body_and_key() -> None:
    request = sent("POST", "/v1/reactions", query={"a": "ä&b"}, body={"c": "ö"}, key="k")
    assert (request.method, request.path, request.GET["a"]) == ("POST", "/v1/reactions", "ä&b")
    assert orjson.loads(request.body) == {"c": "ö"}
    assert (request.content_type, request.META["HTTP_IDEMPOTENCY_KEY"]) == ("application/json", "k")


@pytest.mark.django_db
def test_each_subrequest_is_checked_as_a_request_of_its_own() -> None:
    from mcp_server.api import Api
    from tests.mcp_server.rpc import Mcp

    agent = agent_with_token()
    revoked: list[int] = []

    def revoke(self: Api, path: str, **query: Any) -> dict[str, Any]:
        revoked.append(agent.operator.post(f"/v1/agent-tokens/{agent.token.pk}/revoke", {}).status)
        return self.send("GET", path, query=query).json

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Api, "get", revoke)
        assert Mcp(agent.api).call("whoami").error == "token_revoked"
    assert revoked == [200]
