"""The guard that every test runs under really guards: who would leave this machine fails."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Callable

import pytest

# Reserved for documentation: nobody is there.
ELSEWHERE = "192.0.2.1"


@pytest.mark.parametrize(
    "leave",
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
def test_whoever_leaves_the_machine_fails(leave: Callable[[], object]) -> None:
    with pytest.raises(pytest.fail.Exception, match="never uses the network"):
        leave()


def test_this_machine_may_be_called() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=1).close()
    assert socket.getaddrinfo("localhost", 80)
