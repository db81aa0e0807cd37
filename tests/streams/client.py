"""A client of a stream of server-sent events over a real socket."""

from __future__ import annotations

import contextlib
import http.client
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import orjson

from tests.waiting import PATIENCE_SECONDS


@dataclass(frozen=True, slots=True)
class Event:
    """An event with data, or (`type` empty) a greeting or heartbeat, which has an id only."""

    id: str
    type: str = ""
    data: Any = None


@dataclass(slots=True)
class EventStream:
    """An open response. Its last event is in `last_id`, as a browser has it."""

    connection: http.client.HTTPConnection
    response: http.client.HTTPResponse
    last_id: str = ""
    comments: int = 0
    retry: int = 0
    seen: list[Event] = field(default_factory=list)

    @property
    def status(self) -> int:
        return self.response.status

    def events(self) -> Iterator[Event]:
        """The events with data until the response ends. Raises TimeoutError, or HTTPException if it is incomplete."""
        return (event for event in self.blocks() if event.type)

    def take(self, count: int) -> list[Event]:
        events = self.events()
        return [next(events) for _ in range(count)]

    def take_until(self, message_id: str) -> list[Event]:
        """The events up to that of a post."""
        taken: list[Event] = []
        for event in self.events():
            taken.append(event)
            if event.data["messageId"] == message_id:
                return taken
        raise AssertionError(f"the stream has ended after {taken}")

    def blocks(self) -> Iterator[Event]:
        block: dict[str, str] = {}
        while line := self.response.readline():
            text = line.decode().removesuffix("\n")
            if text:
                name, _, value = text.partition(":")
                block[name] = value.removeprefix(" ")
                self.comments += not name
                continue
            self.retry = int(block.get("retry", self.retry))
            self.last_id = block.get("id", self.last_id)
            yield Event(self.last_id, block.get("event", ""), orjson.loads(block.get("data", "null")))
            block = {}

    def is_over_within(self, seconds: float) -> bool:
        """Whether the response ends completely; events are skipped."""
        deadline = time.monotonic() + seconds
        self.connection.sock.settimeout(seconds)
        with contextlib.suppress(TimeoutError):
            return all(time.monotonic() <= deadline for _block in self.blocks())
        return False

    def close(self) -> None:
        self.response.close()
        self.connection.close()


def open_stream(port: int, path: str = "/v1/changes/stream", *, after: str = "", **sent: Any) -> EventStream:
    """`after`: the Last-Event-ID; `headers`: further headers; other arguments are query parameters."""
    headers = sent.pop("headers", {}) | ({"Last-Event-ID": after} if after else {})
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    connection.request("GET", f"{path}?{urlencode(sent)}" if sent else path, headers=headers)
    return EventStream(connection, connection.getresponse())


@contextmanager
def following(port: int, path: str = "/v1/changes/stream", **sent: Any) -> Iterator[EventStream]:
    """A stream that is open, and has its first cursor."""
    stream = open_stream(port, path, **sent)
    try:
        assert stream.status == 200, stream.response.read()
        next(stream.blocks())
        yield stream
    finally:
        stream.close()
