"""deploy/nginx.conf in front of the service: every response is JSON and belongs to the request of its client."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from http.client import HTTPResponse
from threading import Thread

import pytest

from tests.faults.environment import SETTINGS
from tests.nginx import needs_nginx, nginx_before
from tests.remote import Remote
from tests.service import Service, free_port, running_service
from tests.waiting import eventually, takes_less_than

pytestmark = [pytest.mark.slow, pytest.mark.processes]

HOST = b"HTTP/1.1\r\nHost: localhost"
END = b"\r\n\r\n"
REFUSALS = [
    (b"get /v1/smart-tags " + HOST + END, 400, "invalid_input"),
    (b"GET /v1/%00 " + HOST + END, 400, "invalid_input"),
    (b"GET /v1/%g1 " + HOST + END, 400, "invalid_input"),
    (b"GET /v1/a b " + HOST + END, 400, "invalid_input"),
    (b"GET /v1/smart-tags HTTP/1.1" + END, 400, "invalid_input"),
    (b"GET /v1/smart-tags HTTP/1.1\r\nHost: evil.example" + END, 400, "invalid_input"),
    (b"nonsense" + END, 400, "invalid_input"),
    (b"POST / " + HOST + b"\r\nContent-Length: x" + END, 400, "invalid_input"),
    (b"GET /nowhere " + HOST + END, 404, "not_found"),
    (b"GET /-/400 " + HOST + END, 404, "not_found"),
    (b"TRACE /v1/smart-tags " + HOST + END, 405, "method_not_allowed"),
    (b"TRACE / " + HOST + b"\r\nContent-Length: 2000000" + END, 405, "method_not_allowed"),
    (b"CONNECT / " + HOST + END, 405, "method_not_allowed"),
    (b"POST / " + HOST + b"\r\nContent-Length: 1048577" + END, 413, "payload_too_large"),
    (b"GET /" + b"a" * 70_000 + b" " + HOST + END, 431, "headers_too_large"),
    (b"GET / " + HOST + b"\r\nA: " + b"a" * 70_000 + END, 431, "headers_too_large"),
    (b"POST / " + HOST + b"\r\nTransfer-Encoding: x" + END, 501, "not_implemented"),
    (b"GET / HTTP/3.0\r\nHost: localhost" + END, 501, "not_implemented"),
]
SIZES = (10_000, 300_000, (1 << 20) - 10)
EARLY = ("/v1/agent-tokens/requests", "/api/messages", "/api/embeds/config/x", "/nowhere")


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running_service(**SETTINGS) as service:
        yield service


@needs_nginx
def test_proxy_in_front_of_the_service(service: Service, subtests: pytest.Subtests) -> None:
    """One test, because starting the proxy dominates its duration."""
    with nginx_before(service.port) as proxy:
        for wire, status, code in REFUSALS:
            with subtests.test(repr(wire[:60])):
                answered, body = exchange(proxy, wire)
                assert (answered, body["error"]) == (status, code)
        for path in EARLY:
            with subtests.test(f"refused before the body is read: {path}"):
                check_early_refusals(proxy, path)
        with subtests.test("a body on a GET"):
            remote = Remote(proxy)
            assert {remote.call("GET", "/v1/smart-tags", "x" * 500_000).status for _ in range(5)} == {200}
        with subtests.test("a redirect that names a long address"):
            assert Remote(proxy).call("GET", "/admin/messaging/?" + "x" * 15_000).status == 302
        with subtests.test("a chunked body"):
            check_chunked_body(proxy, service.port)


def check_early_refusals(proxy: int, path: str) -> None:
    """The response is complete, and so is that of the next client on the same upstream connection."""
    refused, next_one = Remote(proxy), Remote(proxy)
    for size in SIZES:
        assert refused.call("POST", path, "x" * size).status in (401, 404, 405)
        assert next_one.call("GET", "/v1/smart-tags").status == 200


def check_chunked_body(proxy: int, service: int) -> None:
    """The service requires Content-Length (411); the proxy buffers the body and sends it."""
    body = b'{"url":"https://example.com/chunked"}'
    wire = (
        b"POST /v1/presence/normalize-url " + HOST + b"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked"
    )
    wire += END + b"%x\r\n%b\r\n0" % (len(body), body) + END
    assert exchange(proxy, wire)[0] == 200
    assert exchange(service, wire)[0] == 411


def exchange(port: int, wire: bytes) -> tuple[int, dict[str, str]]:
    """Send raw bytes. Returns the (status, JSON) of the response; a refusal has a message, and the id of its header."""
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(wire)
        answer = HTTPResponse(connection)
        answer.begin()
        body = json.loads(answer.read())
        assert answer.status < 400 or body["requestId"] == answer.headers["X-Request-ID"], wire[:60]
        assert answer.status < 400 or len(body["message"]) > 10, wire[:60]
        return answer.status, body


def first_line(port: int, wire: bytes) -> bytes:
    """Of the response to raw bytes."""
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(wire)
        return connection.makefile("rb").readline()


@needs_nginx
def test_proxy_repeats_a_read_after_a_closed_upstream_connection() -> None:
    """A keep-alive connection may close while a request is sent: the proxy repeats a read; a write is a 503."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

    def serve_once(client: socket.socket) -> None:
        with client:
            client.recv(65536)
            client.sendall(answer)
            client.recv(65536)

    def serve(server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                Thread(target=serve_once, args=[server.accept()[0]], daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=serve, args=[server], daemon=True).start()
        with nginx_before(server.getsockname()[1]) as port:
            remote = Remote(port)
            assert [remote.call("GET", "/v1/smart-tags").status for _ in range(3)] == [200, 200, 200]
            assert remote.call("POST", "/v1/presence/normalize-url", {}).status == 503


@needs_nginx
def test_proxy_passes_over_a_host_that_no_packet_reaches() -> None:
    """A request that was not sent is passed on, also a write: no client notices that a host lost its power."""
    other = free_port()
    with answering(other), an_unreachable_port() as unreachable, nginx_before(unreachable, others=[other]) as port:
        assert are_answered(port)


@needs_nginx
def test_hosts_that_restart_one_after_the_other_are_passed_over_for_a_moment() -> None:
    """For longer, a host that is back would be left out while the next one is away: there would be none."""
    first, second = free_port(), free_port()

    def restart() -> None:
        for running in (first, second):
            with answering(running):
                assert eventually(partial(are_answered, port))

    with nginx_before(first, others=[second]) as port:
        assert takes_less_than(5.0, restart)


@needs_nginx
def test_no_client_can_make_the_proxy_leave_out_all_hosts(service: Service) -> None:
    """The service closes a connection whose headers it cannot read; nginx, still sending the body, counts a failure."""
    unreadable = b"GET /v1/smart-tags " + HOST + b"\r\nA: \x7f\r\nContent-Length: 1000000" + END + bytes(1_000_000)
    with nginx_before(service.port, others=[service.port]) as port:

        def are_counted() -> bool:
            """Whether nginx counts failures of ten in a row, so of both hosts. It may have sent the bodies before."""
            lines = [first_line(port, unreadable) for _ in range(10)]
            return any(b" 503 " in line for line in lines)

        assert eventually(are_counted)
        assert {Remote(port).call("GET", "/v1/smart-tags").status for _ in range(10)} == {200}


def are_answered(port: int) -> bool:
    """Whether several writes are, by each process of nginx."""
    with ThreadPoolExecutor(8) as clients:
        answers = clients.map(lambda _: Remote(port).call("POST", "/v1/presence/normalize-url", {}), range(8))
        return {answer.status for answer in answers} == {200}


@contextmanager
def answering(port: int) -> Iterator[None]:
    """A host that answers every request with 200."""

    def serve() -> None:
        with suppress(OSError):
            while True:
                with server.accept()[0] as client:
                    client.recv(65536)
                    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")

    with socket.create_server(("127.0.0.1", port)) as server:
        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield
        # Closing it would not wake `accept`.
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


@contextmanager
def an_unreachable_port() -> Iterator[int]:
    """Of a server that accepts no connection: the kernel drops the packets of those that do not fit into its queue."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, ExitStack() as waiting:
        for _ in range(4):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        yield server.getsockname()[1]
