"""deploy/nginx.conf before the running service: whatever a client sends, the answer is JSON, and nobody else's."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPResponse

import pytest

from tests.faults.stage import SETTINGS
from tests.nginx import nginx_before
from tests.remote import Remote
from tests.service import running_service

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Proxied:
    proxy: int
    service: int


@pytest.fixture(scope="module")
def proxied() -> Iterator[Proxied]:
    with running_service(**SETTINGS) as service, nginx_before(service.port) as port:
        yield Proxied(port, service.port)


def exchange(port: int, wire: bytes) -> tuple[int, object]:
    """(status, JSON) of one answer to bytes sent as they are."""
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(wire)
        answer = HTTPResponse(connection)
        answer.begin()
        return answer.status, json.loads(answer.read())


@pytest.mark.parametrize(
    ("wire", "status", "code"),
    [
        (b"get /v1/smart-tags HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "invalid_input"),
        (b"GET /v1/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "invalid_input"),
        (b"GET /v1/%g1 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "invalid_input"),
        (b"GET /v1/a b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "invalid_input"),
        (b"GET /v1/smart-tags HTTP/1.1\r\n\r\n", 400, "invalid_input"),
        (b"GET /v1/smart-tags HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400, "invalid_input"),
        (b"nonsense\r\n\r\n", 400, "invalid_input"),
        (b"TRACE /v1/smart-tags HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "method_not_allowed"),
        (b"TRACE / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n", 405, "method_not_allowed"),
        (b"CONNECT / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "method_not_allowed"),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 431, "headers_too_large"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nA: " + b"a" * 70_000 + b"\r\n\r\n", 431, "headers_too_large"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n", 413, "payload_too_large"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", 400, "invalid_input"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: x\r\n\r\n", 501, "not_implemented"),
        (b"GET /-/400 HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "not_found"),
        (b"GET / HTTP/3.0\r\nHost: localhost\r\n\r\n", 501, "not_implemented"),
        (b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "not_found"),
    ],
)
def test_every_refusal_is_json(proxied: Proxied, wire: bytes, status: int, code: str) -> None:
    answered, body = exchange(proxied.proxy, wire)
    assert isinstance(body, dict)
    assert (answered, body["error"]) == (status, code)


@pytest.mark.parametrize("size", [10_000, 300_000, MIB - 10])
@pytest.mark.parametrize("path", ["/v1/agent-tokens/requests", "/api/messages", "/api/embeds/config/x", "/nowhere"])
def test_a_refusal_before_the_body_is_read_breaks_nothing(proxied: Proxied, path: str, size: int) -> None:
    """Neither its own answer, nor that of the next client on the same connection to the service."""
    refused, next_one = Remote(proxied.proxy), Remote(proxied.proxy)
    for _ in range(5):
        assert refused.call("POST", path, "x" * size).status in (401, 404, 405)
        assert next_one.call("GET", "/v1/smart-tags").status == 200


def test_a_body_that_nobody_asked_for_breaks_nothing(proxied: Proxied) -> None:
    remote = Remote(proxied.proxy)
    for _ in range(5):
        assert remote.call("GET", "/v1/smart-tags", "x" * 500_000).status == 200


def test_a_body_in_pieces_arrives_whole(proxied: Proxied) -> None:
    """The service itself wants to know the length; the proxy finds it out."""
    body = b'{"url":"https://example.com/in-pieces"}'
    wire = b"POST /v1/presence/normalize-url HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    wire += b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    assert exchange(proxied.proxy, wire)[0] == 200
    assert exchange(proxied.service, wire)[0] == 411
