"""One stream: it ends at once when it is over, and no client makes it wait or grow without limit."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection

from kernel.changes import reading
from kernel.changes import reading as cursors
from kernel.changes.rows import Cursor, Position
from kernel.changes.streams import delivery
from kernel.changes.streams.delivery import Stream
from kernel.changes.streams.events import Chunk
from kernel.changes.streams.hub import Hub
from kernel.changes.wakeups import Result, Threads
from tests.streams.in_process import (
    SOURCE,
    Connection,
    append_rows,
    ready_hub,
    steps,
)
from tests.waiting import PATIENCE_SECONDS

NOW = Cursor(0, Position(100, 0))
ENDINGS = pytest.mark.parametrize("ending", [Stream.end, Stream.cut])
# After all rows.
LOST = Position(2**62, 1)
ADOPT = "UPDATE changes_changelog SET generation = %s"
# A restore gives the log a random generation (`runtime.backups`).
GENERATIONS = pytest.mark.parametrize("generation", [20_000, 6], ids=["higher", "lower"])


def adopt(generation: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(ADOPT, [generation])


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


def kinds(client: Connection) -> list[str]:
    """The types of the events that the client has got, in their order."""
    return re.findall(r"^event: (\w+)$", b"".join(client.bodies).decode(), re.MULTILINE)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_connections_closed")
@GENERATIONS
def test_a_stream_that_catches_up_gets_one_resync_when_the_log_is_adopted(generation: int) -> None:
    adopt(100)
    start = reading.now()
    append_rows("old")
    end = reading.now()
    adopt(generation)

    async def scenario() -> None:
        client = Connection()
        stream = client.stream(ready_hub(end), start)
        running = asyncio.create_task(stream.run())
        async with asyncio.timeout(PATIENCE_SECONDS):
            while stream._is_catching_up:
                await asyncio.sleep(0.01)
        assert kinds(client) == ["resync"]
        client.left.set()
        await running

    asyncio.run(scenario())


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_connections_closed")
@GENERATIONS
def test_a_stream_opened_with_a_cursor_of_another_generation_gets_a_resync_and_what_follows(generation: int) -> None:
    adopt(100)
    start = reading.now()
    adopt(generation)
    asyncio.run(_gets(["resync", "row"], start=start, hub=ready_hub(reading.now())))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_connections_closed")
def test_a_stream_opened_with_the_cursor_of_a_lost_row_gets_a_resync_and_what_follows() -> None:
    now = reading.now()
    lost = now._replace(position=LOST)
    asyncio.run(_gets(["resync", "row"], start=lost, hub=ready_hub(now)))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_connections_closed")
@GENERATIONS
def test_a_connected_stream_gets_a_resync_and_what_follows_when_the_log_is_adopted(generation: int) -> None:
    adopt(100)
    start = reading.now()
    asyncio.run(_gets(["resync", "row"], start=start, hub=ready_hub(start), connected=lambda: adopt(generation)))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_connections_closed")
def test_a_connected_stream_gets_a_resync_and_what_follows_when_rows_are_lost() -> None:
    now = reading.now()
    lost = now._replace(position=LOST)
    asyncio.run(_gets(["resync", "row"], start=lost, hub=ready_hub(lost)))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_connections_closed")
@GENERATIONS
def test_a_stream_that_is_ahead_of_the_hub_keeps_its_generation_in_a_heartbeat(generation: int, settings: Any) -> None:
    settings.STREAM_HEARTBEAT_SECONDS = 0.01
    adopt(100)
    before = reading.now()
    adopt(generation)
    start = reading.now()

    async def scenario() -> None:
        client = Connection()
        running = asyncio.create_task(client.stream(ready_hub(before), start).run())
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(client.bodies) < 3:
                await asyncio.sleep(0.01)
        sent = re.findall(rb"^id: (\S+)$", b"".join(client.bodies), re.MULTILINE)
        assert {cursors.decode(each.decode(), bound_to="test").generation for each in sent} == {generation}
        client.left.set()
        await running

    asyncio.run(scenario())


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_connections_closed")
def test_a_stream_that_catches_up_without_events_sends_cursors(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.STREAM_HEARTBEAT_SECONDS = 0
    # Each read is of two rows.
    monkeypatch.setattr(delivery, "CATCH_UP_MAX", 1)
    monkeypatch.setattr(reading, "SCAN_MAX", 2)
    start = reading.now()
    append_rows("1", "2", "3", "4", "5")
    positions = [row.position for row in reading.read(SOURCE.channel, start, limit=5).rows]
    others = replace(SOURCE, channel=replace(SOURCE.channel, types=frozenset({"other"})))

    async def scenario(end: Cursor) -> None:
        client = Connection()
        stream = client.stream(ready_hub(end), start, source=others)
        running = asyncio.create_task(stream.run())
        async with asyncio.timeout(PATIENCE_SECONDS):
            while stream._is_catching_up:
                await asyncio.sleep(0.01)
        assert sent_positions(client)[:4] == [start.position, positions[1], positions[3], positions[4]]
        client.left.set()
        await running

    asyncio.run(scenario(reading.now()))


def sent_positions(client: Connection) -> list[Position]:
    sent = re.findall(r"^id: (\S+)$", b"".join(client.bodies).decode(), re.MULTILINE)
    return [cursors.decode(each, bound_to="test").position for each in sent]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_connections_closed")
def test_a_stream_catches_up_while_the_hub_is_at_a_lost_row() -> None:
    now = reading.now()
    lost = now._replace(position=LOST)
    append_rows("old")
    asyncio.run(_gets(["row", "row"], start=now, hub=ready_hub(lost)))


async def _gets(expected: list[str], *, start: Cursor, hub: Hub, connected: Callable[[], None] | None = None) -> None:
    """The events of a stream, and a row that is appended when it has got all of them but that one."""
    client = Connection()
    stream = client.stream(hub, start)
    running = asyncio.create_task(stream.run())
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while stream._is_catching_up:
                await asyncio.sleep(0.01)
            if connected is not None:
                await asyncio.to_thread(connected)
            await hub._read_and_deliver()
            await steps()
            assert kinds(client) == expected[:-1]
            await asyncio.to_thread(append_rows, "new")
            await hub._read_and_deliver()
            await steps()
            assert kinds(client) == expected
    finally:
        client.left.set()
        await running


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
        (Cursor(1, Position(99, 0)), 3),
    ],
)
def test_a_client_gets_the_events_after_its_cursor(cursor: Cursor, sent: int) -> None:
    assert len(a_chunk(10, 3).after(cursor)) == 10 * sent


def test_the_streams_of_a_source_share_the_bytes_of_their_events() -> None:
    chunk = a_chunk(10, 3)
    before = Cursor(0, Position(9, 0))
    assert chunk.after(before) is chunk.after(before)
