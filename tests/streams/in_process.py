"""Streams and their hub in the process of a test: rows of one page, and clients without sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernel.api.credentials import ANONYMOUS, Credential
from kernel.changes.channels import Channel
from kernel.changes.log import NewChange, append
from kernel.changes.rows import ChangeRow, Cursor
from kernel.changes.streams.delivery import Stream
from kernel.changes.streams.events import Chunk
from kernel.changes.streams.hub import Hub
from kernel.changes.streams.opening import Items, OpenedStream, Source
from kernel.changes.wakeups import Threads

PAGE, OTHER_PAGE = f"p1_{'a' * 32}", f"p1_{'b' * 32}"
# Far longer than any test: a test that hangs fails.


class Rows:
    """What an item needs: nothing else than the rows."""

    def __init__(self, rows: Sequence[ChangeRow]) -> None:
        # At most three at once, as if the posts of others did not fit.
        self.rows = rows[:3]


def render(row: ChangeRow, _loaded: Any, /, *, cursor: str) -> dict[str, Any]:
    assert cursor
    return {"n": row.data["n"]} if row.data else {}


def a_source(load: Callable[[Sequence[ChangeRow]], Any] = Rows) -> Source:
    return Source(Items(load, render), Channel(page_id=PAGE), "test")


SOURCE = a_source()


def append_rows(*numbers: str) -> None:
    append([NewChange(type="row", page_id=PAGE, data={"n": number}) for number in numbers])


@dataclass(eq=False)
class Subscriber:
    """A client of the hub that notes what it gets."""

    source: Source = SOURCE
    credential: Credential = ANONYMOUS
    chunks: list[Chunk] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def put(self, chunk: Chunk) -> None:
        self.chunks.append(chunk)

    def end(self) -> None:
        self.calls.append("end")

    def cut(self) -> None:
        self.calls.append("cut")


@dataclass
class Connection:
    """The client's side of a stream: the sent bodies, and when it leaves. It reads while `reads` is set."""

    bodies: list[bytes] = field(default_factory=list)
    is_complete: bool = False
    reads: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.reads.set()

    async def receive(self) -> dict[str, Any]:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        await self.reads.wait()
        self.bodies.append(message["body"])
        self.is_complete = not message["more_body"]

    def stream(self, hub: Hub, start: Cursor, threads: Threads | None = None, *, source: Source = SOURCE) -> Stream:
        opened = OpenedStream(source, start, ANONYMOUS, ())
        threads = threads or Threads("test", count=1)
        return Stream(opened, hub=hub, threads=threads, receive=self.receive, send=self.send)


def ready_hub(cursor: Cursor) -> Hub:
    """A hub that does not run, as if it had read the log up to the cursor."""
    hub = Hub()
    hub.cursor = hub.delivered = cursor
    hub.ready.set()
    return hub


async def steps(count: int = 10) -> None:
    """Let all tasks run that wait for no thread, socket or clock."""
    for _ in range(count):
        await asyncio.sleep(0)
