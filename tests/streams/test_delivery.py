"""One stream: it ends at once when it is over, and no client makes it wait or grow without limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from django.db import connection

from config.changes import reading
from config.changes.rows import Cursor, Position
from config.changes.streams import delivery
from config.changes.streams.delivery import Stream
from config.changes.streams.events import Chunk
from config.changes.threads import Result, Threads
from tests.streams.in_process import (
    Connection,
    append_rows,
    ready_hub,
    steps,
)
from tests.waiting import PATIENCE_SECONDS

NOW = Cursor(0, Position(100, 0))
ENDINGS = pytest.mark.parametrize("ending", [Stream.end, Stream.cut])
ADOPT = "UPDATE changes_changelog SET generation = generation + 1"


def a_chunk(first: int, count: int = 1, *, generation: int = 0, size: int = 10) -> Chunk:
    return Chunk.of(generation, [(Position(number, 1), b"x" * size) for number in range(first, first + count)])


class HeldThreads(Threads):
    """Threads that are busy until they are released."""

    def __init__(self) -> None:
        super().__init__("held", count=1)
        self.released = asyncio.Event()

    async def run(self, function: Callable[..., Result], *arguments: object) -> Result:
        await self.released.wait()
        return await super().run(function, *arguments)


@ENDINGS
def test_a_stream_may_be_ended_again_while_a_send_fails(ending: Callable[[Stream], None]) -> None:
    async def scenario() -> None:
        client = Connection()
        client.reads.clear()
        stream = client.stream(ready_hub(NOW), NOW)
        running = asyncio.create_task(stream.run())
        await steps()
        for _ in range(5):
            ending(stream)
            await asyncio.sleep(0)
        await running
        assert (client.bodies, client.is_complete) == ([], False)

    asyncio.run(scenario())


@pytest.mark.django_db(transaction=True)
@ENDINGS
def test_a_stream_that_is_over_waits_for_no_thread_and_sends_no_event(ending: Callable[[Stream], None]) -> None:
    start = reading.now()
    append_rows("secret")

    async def scenario(end: Cursor) -> None:
        client, threads = Connection(), HeldThreads()
        stream = client.stream(ready_hub(end), start, threads)
        running = asyncio.create_task(stream.run())
        await steps()
        ending(stream)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await running
        assert not any(b"secret" in body for body in client.bodies)
        assert client.is_complete == (ending is Stream.end)

    asyncio.run(scenario(reading.now()))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_connections_closed")
def test_a_stream_that_catches_up_gets_one_resync_when_the_log_is_adopted() -> None:
    start = reading.now()
    append_rows("old")
    end = reading.now()
    with connection.cursor() as cursor:
        cursor.execute(ADOPT)

    async def scenario() -> None:
        client = Connection()
        stream = client.stream(ready_hub(end), start)
        running = asyncio.create_task(stream.run())
        async with asyncio.timeout(PATIENCE_SECONDS):
            while stream._is_catching_up:
                await asyncio.sleep(0.01)
                assert len(client.bodies) <= 2
        assert [b"event: resync" in body for body in client.bodies] == [False, True]
        client.left.set()
        await running

    asyncio.run(scenario())


def test_a_full_queue_cuts_a_live_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "QUEUE_BYTES", 25)

    async def scenario() -> None:
        client = Connection()
        stream = client.stream(ready_hub(NOW), NOW)
        running = asyncio.create_task(stream.run())
        await steps()
        client.reads.clear()
        for number in range(101, 104):
            stream.put(a_chunk(number))
            await steps()
        assert not running.done()
        # The first is being sent, two are in the queue.
        stream.put(a_chunk(104))
        async with asyncio.timeout(PATIENCE_SECONDS):
            await running
        assert (len(client.bodies), client.is_complete) == (1, False)

    asyncio.run(scenario())


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_connections_closed")
def test_a_full_queue_does_not_cut_a_stream_that_catches_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "QUEUE_BYTES", 1)
    start = reading.now()
    append_rows("one", "two", "three")

    async def scenario(end: Cursor) -> None:
        client, threads = Connection(), HeldThreads()
        hub = ready_hub(end)
        stream = client.stream(hub, start, threads)
        running = asyncio.create_task(stream.run())
        await steps()
        for _ in range(3):
            stream.put(a_chunk(end.position.xid))
        threads.released.set()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while stream._is_catching_up:
                await asyncio.sleep(0.01)
        assert not running.done()
        body = b"".join(client.bodies)
        assert [body.count(b'"n":"%b"' % number) for number in (b"one", b"two", b"three")] == [1, 1, 1]
        client.left.set()
        await running

    asyncio.run(scenario(reading.now()))


@pytest.mark.parametrize(
    ("cursor", "sent"),
    [
        (Cursor(0, Position(9, 0)), 3),
        (Cursor(0, Position(10, 1)), 2),
        (Cursor(0, Position(12, 1)), 0),
        (Cursor(-1, Position(99, 0)), 3),
        (Cursor(1, Position(0, 0)), 0),
    ],
)
def test_a_client_gets_the_events_after_its_cursor(cursor: Cursor, sent: int) -> None:
    assert len(a_chunk(10, 3).after(cursor)) == 10 * sent


def test_the_streams_of_a_source_share_the_bytes_of_their_events() -> None:
    chunk = a_chunk(10, 3)
    before = Cursor(0, Position(9, 0))
    assert chunk.after(before) is chunk.after(before)
