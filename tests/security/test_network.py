"""The network guard of the test suite: a call to another machine fails the test.

One module of the service makes connections with sockets of its own, and only the command that sends webhooks runs it.
`test_tree` lists the modules that import a client of a protocol.
"""

from __future__ import annotations

import re
import socket
import urllib.request

import pytest

from tests.documents.test_facts import PRODUCT
from tests.service import ROOT

# Reserved for documentation (RFC 5737).
ELSEWHERE = "192.0.2.1"


def test_call_to_another_machine_fails() -> None:
    for call in [
        lambda: socket.create_connection((ELSEWHERE, 80), timeout=0.1),
        lambda: socket.socket().connect((ELSEWHERE, 443)),
        lambda: socket.socket().connect_ex((ELSEWHERE, 443)),
        lambda: socket.socket(socket.AF_INET6).connect(("2001:db8::1", 443)),
        lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (ELSEWHERE, 53)),
        lambda: socket.getaddrinfo("example.com", 443),
        lambda: socket.gethostbyname("example.com"),
        lambda: urllib.request.urlopen("http://example.com/", timeout=0.1),
    ]:
        with pytest.raises(pytest.fail.Exception, match="never uses the network"):
            call()


# Calls that open connections or resolve names, and the modules that may contain them.
CONNECTING = re.compile(
    r"open_connection|create_connection|getaddrinfo|gethostby|urlopen|(?<!post_migrate)\.connect(_ex)?\("
)
MAY_CONNECT = {
    # Webhooks: an address is resolved, checked and connected to.
    "messaging/webhooks/posting.py",
    # The server's own port, PostgreSQL and Redis.
    "kernel/changes/wakeups.py",
    "kernel/database/backend/base.py",
    "kernel/database/hosts.py",
    "runtime/run.py",
    "runtime/postgres.py",
    "runtime/backups.py",
    # The service that an operator examines, by its public address, and its mail server.
    "runtime/doctor.py",
    "moving/exports/reading.py",
    # Files of SQLite.
    "moving/formats/records.py",
    "moving/formats/sqlite_file.py",
    "moving/imports/staging.py",
}


def test_only_the_listed_modules_connect() -> None:
    files = [file for package in PRODUCT for file in (ROOT / package).rglob("*.py")]
    connecting = {str(file.relative_to(ROOT)) for file in files if CONNECTING.search(file.read_text())}
    assert connecting == MAY_CONNECT


def test_call_to_this_machine_is_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=1).close()
    assert socket.getaddrinfo("localhost", 80)
