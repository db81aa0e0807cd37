"""Slow clients: they send headers or a body slowly, or read a response slowly."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import cycle, islice

POST = b"POST /v1/presence/normalize-url HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BEGINNINGS = (
    # Headers that never end.
    POST + b"X-Slow: ",
    # A body that is sent one byte at a time.
    POST + b"Content-Length: 1000000\r\n\r\n",
    # Responses that are not read: several requests, and a small receive buffer.
    b"GET /api/schema/ HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20,
)
# Addresses of the clients: few connections from each, below any limit on connections.
ADDRESSES = 20
DRIP_SECONDS = 0.2


@contextmanager
def sockets(port: int, *, count: int) -> Iterator[None]:
    """Connect `count` slow clients, a third of each kind, until the end of the block."""
    over = threading.Event()
    with ExitStack() as stack:
        stack.callback(over.set)
        opened = [
            stack.enter_context(_slow_client(port, beginning, address=f"127.0.1.{number % ADDRESSES + 1}"))
            for number, beginning in enumerate(islice(cycle(BEGINNINGS), count))
        ]
        dripping = threading.Thread(target=_drip, args=(opened, over))
        dripping.start()
        stack.callback(dripping.join)
        stack.callback(over.set)
        yield


def _slow_client(port: int, beginning: bytes, *, address: str) -> socket.socket:
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.bind((address, 0))
    client.connect(("127.0.0.1", port))
    client.sendall(beginning)
    return client


def _drip(clients: list[socket.socket], over: threading.Event) -> None:
    while not over.wait(DRIP_SECONDS):
        for client in clients:
            try:
                client.send(b"x")
            except OSError:
                continue
