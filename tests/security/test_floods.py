"""Floods against a running service: large bodies are refused unread; workers share the counters of throttles."""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from tests.remote import Remote
from tests.service import Service, running_service
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.processes]

ANNOUNCED = 400_000_000
STREAMED = 40_000_000
PIECE = b"x" * 1_000_000
PART = b'--x\r\nContent-Disposition: form-data; name="%b"; filename="a"\r\nContent-Type: text/plain\r\n\r\n'
HEAD = b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
PATHS = [
    b"/admin/login/",
    b"/admin/",
    b"/admin/messaging/message/",
    b"/",
    b"/embed/panel",
    b"/static/x",
    b"/api/messages",
    b"/mcp",
    b"/account/sign-in/",
    b"/account/communities/x/moderation/imports/",
]
# On the port of the stream process, which serves no other paths.
STREAM_PATHS = {b"/v1/changes/stream": None, b"/v1/inbox/stream": None, b"/api/messages": 404, b"/admin/": 404}
# Without both, CsrfViewMiddleware would not read the body.
COOKIES = b"Cookie: sessionid=x; csrftoken=" + b"a" * 32 + b"\r\n"
CALLS, REGISTRATIONS_MAX, READS_MAX = 60, 10, 40
# Of two counters, twice as many would pass.
UNCOUNTED_MAX = 5
WINDOW_SECONDS = 60
CLIENTS = count(1)
SETTINGS = {"THROTTLE_READ_PER_MINUTE": str(READS_MAX), "TRUSTED_PROXIES": "127.0.0.1", "STREAMS": "1"}
LENGTHS = pytest.mark.parametrize(
    ("length", "status"), [(b"Content-Length: %d" % ANNOUNCED, 413), (b"Transfer-Encoding: chunked", 411)]
)


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spooled")


@pytest.fixture(scope="module")
def service(temporary: Path) -> Iterator[Service]:
    with running_service(WORKERS="2", TMPDIR=str(temporary), **SETTINGS) as service:
        yield service


@pytest.mark.parametrize("path", PATHS)
@LENGTHS
def test_large_body_is_refused_and_not_spooled(
    service: Service, temporary: Path, path: bytes, length: bytes, status: int
) -> None:
    check_refusal(service.port, temporary, HEAD % path + COOKIES + length, status)


@pytest.mark.parametrize("path", STREAM_PATHS)
@LENGTHS
def test_large_body_to_the_stream_process_is_refused_and_neither_spooled_nor_kept(
    service: Service, temporary: Path, path: bytes, length: bytes, status: int
) -> None:
    (process,) = service.supervised("runtime.streams")
    head = HEAD % path + COOKIES + length
    check_refusal(service.stream_port, temporary, head, STREAM_PATHS[path] or status, process)


def check_refusal(port: int, temporary: Path, head: bytes, status: int, process: psutil.Process | None = None) -> None:
    # Before the memory is measured: a first request loads modules.
    assert refusal(port, head) == status
    memory = process.memory_info().rss if process else 0
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(head + b"\r\n\r\n")
        with suppress(OSError):
            pieces = STREAMED // len(PIECE)
            for piece in [PART % b"username", *[PIECE] * pieces]:
                connection.sendall(piece if b"chunked" not in head else b"%x\r\n%b\r\n" % (len(piece), piece))
        assert sum(file.stat().st_size for file in temporary.rglob("*") if file.is_file()) < len(PIECE)
        assert process is None or process.memory_info().rss - memory < STREAMED / 4
    assert refusal(port, head) == status


def refusal(port: int, head: bytes) -> int:
    """The status of the response to a request of which only the head is sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(head + b"\r\n\r\n")
        return int(connection.recv(65536).split()[1])


def test_workers_share_the_counter_of_registrations(service: Service) -> None:
    assert len(service.workers()) == 2
    statuses = statuses_of(service, "POST", lambda: "/api/auth/register")
    check_shared(statuses, passed=400, most=REGISTRATIONS_MAX)


def test_workers_share_the_read_counter(service: Service) -> None:
    statuses = statuses_of(service, "GET", lambda: f"/api/messages/{uuid4()}")
    check_shared(statuses, passed=404, most=READS_MAX)
    own = Remote(service.port)
    assert {own.call("GET", f"/api/messages/{uuid4()}").status for _ in range(CALLS)} == {404}, "local calls"


def check_shared(statuses: Counter[int], *, passed: int, most: int) -> None:
    """On a busy machine a call may wait too long for the lock of the counters, and passes uncounted."""
    assert statuses.keys() == {passed, 429}
    assert most <= statuses[passed] <= most + UNCOUNTED_MAX


def statuses_of(service: Service, method: str, path: Callable[[], str]) -> Counter[int]:
    """Statuses of concurrent calls of one client within one window, each on a new connection."""
    while True:
        window, client = time.time() // WINDOW_SECONDS, f"198.51.100.{next(CLIENTS)}"
        body = {} if method == "POST" else None
        with ThreadPoolExecutor(max_workers=8) as pool:
            calls = [
                pool.submit(Remote(service.port, {"X-Forwarded-For": client}).call, method, path(), body)
                for _ in range(CALLS)
            ]
        if time.time() // WINDOW_SECONDS == window:
            return Counter(call.result().status for call in calls)
