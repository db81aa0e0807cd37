"""Tests that need real processes: a worker killed during a write, and requests that no client library sends."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from tests.service import Service, running_service
from tests.waiting import PATIENCE_SECONDS, eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes]
LEFT_SECONDS = 20


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """With the demo, which has an agent with a token and a page with posts."""
    with running_service(WORKERS="2", DEMO="1") as service:
        yield service
        # During all tests.
        assert "Traceback" not in service.said()


@pytest.fixture
def demo(service: Service) -> dict[str, Any]:
    demo_file: dict[str, Any] = json.loads((service.data / "demo.json").read_text())
    return demo_file


@dataclass(slots=True)
class Answer:
    status: int
    headers: Any
    body: Any


def send(service: Service, method: str, path: str, body: Any = None, **headers: str) -> Answer:
    data = None if body is None else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    request = urllib.request.Request(service.base_url + path, data=data, method=method, headers=sent)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as response:
            return Answer(response.status, response.headers, json.loads(response.read() or b"null"))
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.headers, json.loads(error.read() or b"null"))


def is_up(service: Service) -> bool:
    try:
        return send(service, "GET", "/v1/smart-tags").status == 200
    except OSError:
        return False


def raw(service: Service, request: bytes, *, then_leave: bool = False) -> tuple[int, bytes, bytes]:
    """(status, head, body) of the response to these bytes, which comes soon if no more of them can come."""
    seconds = LEFT_SECONDS if then_leave else PATIENCE_SECONDS
    with socket.create_connection(("127.0.0.1", service.port), timeout=seconds) as connection:
        connection.sendall(request)
        if then_leave:
            connection.shutdown(socket.SHUT_WR)
        response = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = response.partition(b"\r\n\r\n")
    return int(head.split()[1]) if head else 0, head, body


def written(database: psycopg.Connection[Any], parent: str) -> dict[str, int]:
    counts = {
        "replies": "SELECT count(*) FROM messaging_message WHERE parent_id = %(parent)s",
        "reply count": "SELECT reply_count FROM messaging_message WHERE id = %(parent)s",
        "stored": "SELECT count(*) FROM api_storedresponse",
        "charges": "SELECT count(*) FROM api_ledgerentry WHERE counter = 'reply'",
    }
    return {name: database.execute(sql, {"parent": parent}).fetchone()[0] for name, sql in counts.items()}  # type: ignore[index]


LOCKS_OF_OTHERS = """
SELECT count(*) FROM pg_locks WHERE pid <> pg_backend_pid() AND (locktype = 'advisory' OR mode LIKE 'Row%')
"""
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


def count(database: psycopg.Connection[Any], sql: str) -> int:
    row = database.execute(sql).fetchone()
    return int(row[0]) if row else 0


def test_a_worker_killed_during_a_write_leaves_no_rows_and_no_lock(service: Service, demo: dict[str, Any]) -> None:
    """`kill -9` between the first statement of a write and its commit leaves no lock and no row; the key is unused."""
    posts = send(service, "GET", f"/api/messages?pageId={demo['pageId']}").body["messages"]
    parent = next(post["id"] for post in posts if post["replyCount"] == 0)
    body = {"pageId": demo["pageId"], "parentId": parent, "communityId": demo["communityId"], "content": "Once"}
    headers = {"Authorization": f"Bearer {demo['agentToken']}", "Idempotency_Key": "killed"}

    with (
        psycopg.connect(service.cluster.url, autocommit=True) as database,
        psycopg.connect(service.cluster.url) as blocker,
        ThreadPoolExecutor(1) as pool,
    ):
        before = written(database, parent)
        # The write waits in its last statement: it has locked the key and has incremented the parent's reply count.
        blocker.execute("LOCK TABLE api_storedresponse IN SHARE MODE")
        cut_off = pool.submit(send, service, "POST", "/api/messages", body, **headers)
        assert eventually(lambda: count(database, WAITING) == 1)
        killed = service.workers()
        for worker in killed:
            worker.kill()
        assert isinstance(cut_off.exception(timeout=PATIENCE_SECONDS), OSError)
        blocker.rollback()
        assert eventually(lambda: count(database, LOCKS_OF_OTHERS) == 0)
        assert written(database, parent) == before

        assert eventually(lambda: is_up(service))
        first = send(service, "POST", "/api/messages", body, **headers)
        again = send(service, "POST", "/api/messages", body, **headers)
        assert (first.status, first.headers["Idempotent-Replayed"]) == (201, None)
        assert (again.body, again.headers["Idempotent-Replayed"]) == (first.body, "true")
        assert written(database, parent) == {name: number + 1 for name, number in before.items()}


def test_a_killed_database_session_is_503_and_the_next_request_works(service: Service, demo: dict[str, Any]) -> None:
    path = f"/api/messages?pageId={demo['pageId']}&limit=1"
    assert send(service, "GET", path).status == 200
    with psycopg.connect(service.cluster.url, autocommit=True) as database:
        database.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    statuses = [send(service, "GET", f"{path}&x={number}").status for number in range(6)]
    assert set(statuses) <= {200, 503}
    assert statuses[-2:] == [200, 200]


HOST = b"Host: 127.0.0.1\r\nConnection: close\r\n"


REQUEST_LINES = {
    404: [
        *(b"GET /api/messages/%ff", b"GET /api/messages/%zz", b"GET /api/messages/%00", b"GET /%00%ff%c0%af"),
        *(b"GET /../../etc/passwd", b"GET /static/../manage.py", b"GET /static/%2e%2e/manage.py"),
        b"GET //v1/smart-tags",
    ],
    400: [b"GET /api/messages?pageId=%00&pageId=%ff", b"GET /api/messages?%ff=%zz&&&=&pageId"],
    405: [method + b" /v1/smart-tags" for method in (b"OPTIONS", b"TRACE", b"BREW", b"DELETE")],
}
POST = b"POST /v1/presence/normalize-url HTTP/1.1\r\nContent-Type: application/json\r\n" + HOST
LENGTH_2 = b"Content-Length: 2\r\n\r\n{}"
INVALID_HEADERS = [
    *((POST + b"Transfer-Encoding: %s\r\n\r\n2\r\n{}\r\n0\r\n\r\n" % name, 411) for name in (b"chunked", b"Chunked")),
    (POST + b"Content-Length: 2000000\r\n\r\n{}", 413),
    *((POST + rest, 400) for rest in (b"Content-Length: 0\r\n\r\n", b"\r\n")),
    (POST.replace(b"127.0.0.1", b"evil.example") + LENGTH_2, 400),
    (POST + b"Authorization: Bearer \xff\xfe\r\n" + LENGTH_2, 401),
    (POST.replace(b"application/json", b"text/\xff") + LENGTH_2, 415),
]
CODES = {400: "invalid_input", 401: "invalid_token", 411: "length_required", 413: "payload_too_large"}
CODES[415] = "unsupported_media_type"
NOT_HTTP = [
    *(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 100),
    *(POST + b"Content-Length: " + length + b"\r\n\r\n{}" for length in (b"-1", b"abc", b"10")),
    POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
    b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
]


def test_invalid_request_lines_and_headers_get_a_json_refusal(service: Service) -> None:
    for status, line in [(status, line) for status, lines in REQUEST_LINES.items() for line in lines]:
        actual, head, body = raw(service, line + b" HTTP/1.1\r\n" + HOST + b"\r\n")
        assert actual == status, (line, body)
        assert b"content-type: application/json" in head.lower(), line
        assert "error" in json.loads(body), line
    for request, status in INVALID_HEADERS:
        actual, _head, body = raw(service, request)
        assert (actual, json.loads(body)["error"]) == (status, CODES[status]), request
    status, head, body = raw(service, b"HEAD /v1/smart-tags HTTP/1.1\r\n" + HOST + b"\r\n")
    assert (status, body) == (200, b"")
    assert b"content-type: application/json" in head.lower()


def test_bytes_that_are_not_http_close_only_their_connection(service: Service) -> None:
    """The server waits for no more bytes of a connection that its client has closed: a time-out would be an error."""
    for request in NOT_HTTP:
        try:
            status, _head, _body = raw(service, request, then_leave=True)
        except OSError as error:
            status = -1 if isinstance(error, TimeoutError) else 0
        assert status in {0, 400, 404, 414, 431}, request[:60]
        assert send(service, "GET", "/v1/smart-tags").status == 200
