"""A TCP relay before PostgreSQL, which cuts a connection between its COMMIT and the answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.waiting import PATIENCE_SECONDS

COMMIT = b"COMMIT\0"


@dataclass(slots=True)
class Connection:
    """Both ends of a relayed connection; with `is_marked`, the next COMMIT is held."""

    client: socket.socket
    server: socket.socket
    is_marked: bool = False
    is_held: bool = False

    def close(self) -> None:
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@dataclass(slots=True)
class Relay:
    """`hold` chooses a connection by what it sends; `wait_until_held` returns when it has sent its COMMIT.

    The server gets the COMMIT if `passes_commit`. The client gets no answer, and `cut` closes both ends.
    """

    listener: socket.socket
    target: Path
    passes_commit: bool = True
    _mark: bytes = b""
    _held: threading.Event = field(default_factory=threading.Event)
    _connections: list[Connection] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def hold(self, mark: str, *, passes_commit: bool) -> None:
        self._held.clear()
        self._mark, self.passes_commit = mark.encode(), passes_commit

    def wait_until_held(self) -> None:
        assert self._held.wait(PATIENCE_SECONDS), "no COMMIT was sent"

    def cut(self) -> None:
        self._mark = b""
        for connection in self._connections:
            if connection.is_held:
                connection.close()

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self._connections:
            connection.close()

    def run(self) -> None:
        with suppress(OSError):
            while True:
                client, _address = self.listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self.target))
                connection = Connection(client, server)
                self._connections.append(connection)
                for pump in (self._to_server, self._to_client):
                    threading.Thread(target=pump, args=[connection], daemon=True).start()

    def _to_server(self, connection: Connection) -> None:
        with suppress(OSError):
            while data := connection.client.recv(65536):
                connection.is_marked |= bool(self._mark) and self._mark in data
                if connection.is_marked and COMMIT in data:
                    connection.is_held = True
                    if self.passes_commit:
                        connection.server.sendall(data)
                    self._held.set()
                else:
                    connection.server.sendall(data)
        connection.close()

    def _to_client(self, connection: Connection) -> None:
        with suppress(OSError):
            while data := connection.server.recv(65536):
                if not connection.is_held:
                    connection.client.sendall(data)
        connection.close()


@contextmanager
def relay_before(socket_file: Path) -> Iterator[Relay]:
    """A running relay on a port of this machine, before the socket of a server."""
    relay = Relay(socket.create_server(("127.0.0.1", 0)), socket_file)
    threading.Thread(target=relay.run, daemon=True).start()
    try:
        yield relay
    finally:
        relay.close()
