"""The network guard of the test suite: a call to another machine fails the test."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Callable

import pytest

# Reserved for documentation (RFC 5737).
ELSEWHERE = "192.0.2.1"


@pytest.mark.parametrize(
    "call",
    [
        lambda: socket.create_connection((ELSEWHERE, 80), timeout=0.1),
        lambda: socket.socket().connect((ELSEWHERE, 443)),
        lambda: socket.socket().connect_ex((ELSEWHERE, 443)),
        lambda: socket.socket(socket.AF_INET6).connect(("2001:db8::1", 443)),
        lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (ELSEWHERE, 53)),
        lambda: socket.getaddrinfo("example.com", 443),
        lambda: socket.gethostbyname("example.com"),
        lambda: urllib.request.urlopen("http://example.com/", timeout=0.1),
    ],
)
def test_call_to_another_machine_fails(call: Callable[[], object]) -> None:
    with pytest.raises(pytest.fail.Exception, match="never uses the network"):
        call()


def test_call_to_this_machine_is_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=1).close()
    assert socket.getaddrinfo("localhost", 80)
