"""The hub and its streams against concurrent writers: each client gets every row once, in the order of the log."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Awaitable, Iterator
from random import Random
from typing import Any

import pytest
from django.db import connection, connections, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernel.api.credentials import ANONYMOUS
from kernel.changes import reading
from kernel.changes import reading as cursors
from kernel.changes.log import NewChange, append
from kernel.changes.rows import Cursor
from kernel.changes.streams import delivery, events
from kernel.changes.streams.delivery import Stream
from kernel.changes.streams.hub import Hub
from kernel.changes.streams.opening import OpenedStream
from kernel.changes.wakeups import Threads
from tests.streams.in_process import OTHER_PAGE, PAGE, SOURCE
from tests.waiting import PATIENCE_SECONDS

WRITERS, CLIENTS = 4, 3
EVENT = re.compile(rb'id: (\S+)\nevent: row\ndata: \{"n":"([^"]+)"\}\n\n')


class Client:
    """Reads a stream, leaves it after a while, and connects again after its last event."""

    def __init__(self, hub: Hub, threads: Threads, start: Cursor, seed: int) -> None:
        self.got: list[str] = []
        self._hub, self._threads, self._random = hub, threads, Random(seed)
        self._cursor = start

    async def run(self, *, until: int) -> None:
        while len(self.got) < until:
            gone = asyncio.Event()
            opened = OpenedStream(SOURCE, self._cursor, ANONYMOUS, ())
            stream = Stream(opened, hub=self._hub, threads=self._threads, receive=_leaves(gone), send=self._read)
            reading_on = asyncio.create_task(stream.run())
            await asyncio.wait({reading_on}, timeout=self._random.uniform(0.01, 0.3))
            gone.set()
            await reading_on

    async def _read(self, message: dict[str, Any]) -> None:
        # A client may be slow, and may leave in the middle of a chunk.
        await asyncio.sleep(self._random.choice([0, 0, 0.002, 0.02]))
        for cursor, number in EVENT.findall(message["body"]):
            self.got.append(number.decode())
            self._cursor = cursors.decode(cursor.decode(), bound_to="test")


def _leaves(gone: asyncio.Event) -> Any:
    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    return receive


def write(name: str, count: int, seed: int) -> None:
    """Rows of both pages, in transactions that stay open for a while; some are rolled back."""
    random = Random(seed)
    try:
        for number in range(count):
            _write_one(f"{name}-{number}", random)
    finally:
        connections.close_all()


def _write_one(number: str, random: Random) -> None:
    page = PAGE if random.random() < 0.8 else OTHER_PAGE
    is_void = random.random() < 0.1
    with transaction.atomic():
        append([NewChange(type="row", page_id=page, data={"n": number})])
        time.sleep(random.choice([0, 0, 0, 0.001, 0.03]))
        transaction.set_rollback(is_void)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_connections_closed")
@given(seed=st.integers(0, 2**32))
@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_clients_that_come_and_go_get_every_row_once_in_one_order(seed: int) -> None:
    asyncio.run(_race(reading.now(), seed))


async def _race(start: Cursor, seed: int) -> None:
    hub, threads = Hub(), Threads("test", count=2)
    following = asyncio.create_task(hub.run())
    writers = [threading.Thread(target=write, args=(f"{seed}-{n}", 40, seed + n)) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    await hub.ready.wait()
    clients = [Client(hub, threads, start, seed + n) for n in range(CLIENTS)]
    expected = asyncio.create_task(_expected(start, writers))
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await _all(client.run(until=1) for client in clients)
            numbers = await expected
            await _all(client.run(until=len(numbers)) for client in clients)
    finally:
        following.cancel()
    assert [client.got for client in clients] == [numbers] * CLIENTS


async def _expected(start: Cursor, writers: list[threading.Thread]) -> list[str]:
    """The rows of the page, in their order, when all writers have ended."""
    for writer in writers:
        await asyncio.to_thread(writer.join)
    return await asyncio.to_thread(_stored, start)


def _stored(start: Cursor) -> list[str]:
    try:
        rows = reading.read(SOURCE.channel, start, limit=10_000).rows
        return [row.data["n"] for row in rows if row.data]
    finally:
        connection.close()


async def _all(runs: Iterator[Awaitable[None]]) -> None:
    await asyncio.gather(*runs)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_connections_closed")
def test_clients_that_are_cut_and_deliveries_that_are_limited_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "QUEUE_BYTES", 1)
    # Two or three events.
    monkeypatch.setattr(events, "CHUNK_BYTES", 200)
    asyncio.run(_race(reading.now(), 1))
