"""A client of a running service over a real socket."""

from __future__ import annotations

import http.client
import select
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.waiting import PATIENCE_SECONDS


@dataclass(frozen=True, slots=True)
class Reply:
    """One response. `headers` has lower-case names."""

    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def error(self) -> Any:
        return self.json.get("error")


@dataclass(slots=True)
class Remote:
    """One keep-alive connection to a local port; after a failure the next call opens another."""

    port: int
    headers: dict[str, str] = field(default_factory=dict)
    timeout: float = PATIENCE_SECONDS
    _connection: http.client.HTTPConnection | None = None

    def call(self, method: str, path: str, body: Any = None, *, key: str | None = None, **headers: str) -> Reply:
        """Send `body` as JSON. Raises OSError or HTTPException if the response is incomplete."""
        self.send(method, path, body, key=key, **headers)
        return self.receive()

    def send(self, method: str, path: str, body: Any = None, *, key: str | None = None, **headers: str) -> None:
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        elif _is_closed(self._connection):
            # As any client: it was idle for too long. The next request opens it again.
            self._connection.close()
        sent = self.headers | headers | ({} if key is None else {"Idempotency-Key": key})
        data = None if body is None else orjson.dumps(body)
        if data is not None:
            sent["Content-Type"] = "application/json"
        try:
            self._connection.request(method, path, data, sent)
        except BaseException:
            self.close()
            raise

    def receive(self) -> Reply:
        assert self._connection
        try:
            with self._connection.getresponse() as answer:
                names = {name.lower(): value for name, value in answer.getheaders()}
                return Reply(answer.status, answer.read(), names)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _is_closed(connection: http.client.HTTPConnection) -> bool:
    """Whether the other end has closed a connection on which nothing is expected."""
    if connection.sock is None:
        return False
    arrives = select.poll()
    arrives.register(connection.sock, select.POLLIN)
    return bool(arrives.poll(0))
