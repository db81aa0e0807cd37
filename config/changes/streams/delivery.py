"""Sends the events of a stream to its client.

A stream subscribes to the hub, reads the rows between its cursor and the hub's, and then goes on with the events in its
queue. A client that does not read them in time is cut: it connects again with the cursor of its last event.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import Any

from django.conf import settings
from django.db import Error

from config.changes import reading
from config.changes.exceptions import CursorExpired
from config.changes.rows import Cursor
from config.changes.streams import events
from config.changes.streams.events import Chunk
from config.changes.streams.hub import Hub
from config.changes.streams.opening import OpenedStream
from config.changes.streams.rendering import render
from config.changes.threads import Threads, first_line

# The time that one send may take, and the bytes that may wait behind it.
SEND_SECONDS = 10.0
QUEUE_BYTES = 1024 * 1024
CATCH_UP_MAX = 100
logger = logging.getLogger(__name__)
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Over(Enum):
    """Why a stream is over: ended by the service, or cut because the client is gone or too slow."""

    ENDED = auto()
    CUT = auto()


class Stream:
    """`put`, `end` and `cut` are called in the event loop, and never wait."""

    def __init__(self, opened: OpenedStream, *, hub: Hub, threads: Threads, receive: Receive, send: Send) -> None:
        self.source, self.credential = opened.source, opened.credential
        self._cursor = opened.start
        self._hub, self._threads, self._receive, self._send_message = hub, threads, receive, send
        self._queue: deque[Chunk] = deque()
        self._queued_bytes = 0
        # While the stream catches up, a full queue is emptied: its rows are read from the log.
        self._is_catching_up, self._has_missed = True, False
        self._changed = asyncio.Event()
        self._over: Over | None = None
        self._sending: asyncio.Timeout | None = None

    def put(self, chunk: Chunk) -> None:
        if self._queue and self._queued_bytes + len(chunk.joined) > QUEUE_BYTES:
            if not self._is_catching_up:
                self.cut()
                return
            self._has_missed = True
        self._queue.append(chunk)
        self._queued_bytes += len(chunk.joined)
        if self._has_missed:
            self._clear()
        self._changed.set()

    def end(self) -> None:
        """End the response completely, at once."""
        self._finish(Over.ENDED)

    def cut(self) -> None:
        self._finish(Over.CUT)

    async def run(self) -> None:
        """Send events until the stream is over. Raises nothing that a client causes."""
        watcher = asyncio.create_task(self._watch())
        try:
            await self._hub.ready.wait()
            await self._send(events.greeting(self.source, self._cursor))
            await self._catch_up()
            while self._over is None:
                await self._send_next()
            if self._over is Over.ENDED:
                await self._send(b"", more=False)
        except TimeoutError:
            self.cut()
        except Error as error:
            logger.warning("A stream did not catch up: %s", first_line(error))
        finally:
            watcher.cancel()
            self._hub.groups.discard(self)

    def _finish(self, over: Over) -> None:
        self._over = self._over or over
        self._changed.set()
        if self._sending is not None:
            # The client does not read: the rest of the response would not arrive.
            self._sending.reschedule(0)

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.cut()

    async def _catch_up(self) -> None:
        """Subscribe, and read the log up to where the subscription began."""
        self._hub.groups.add(self)
        self._has_missed = True
        while self._has_missed:
            self._clear()
            self._has_missed, target = False, self._hub.cursor
            while self._over is None and self._is_behind(target):
                await self._send_chunk(await self._threads.run(self._read_on))
        self._is_catching_up = False

    def _is_behind(self, target: Cursor) -> bool:
        return self._cursor.generation != target.generation or self._cursor.position < target.position

    def _read_on(self) -> tuple[Chunk | None, Cursor]:
        """In a thread: the next events of the log, and the cursor after them."""
        try:
            batch = reading.read(self.source.channel, self._cursor, limit=CATCH_UP_MAX)
        except CursorExpired:
            now = reading.now()
            return events.resync(self.source, now), now
        chunks = render({self.source: batch.rows}, batch.next.generation) if batch.rows else {}
        return chunks.get(self.source), batch.next

    async def _send_chunk(self, read: tuple[Chunk | None, Cursor]) -> None:
        chunk, cursor = read
        if chunk is not None:
            await self._send(chunk.joined)
        self._cursor = cursor

    async def _send_next(self) -> None:
        """Send what is in the queue, or wait for it and send a heartbeat if nothing comes."""
        if not self._queue:
            await self._wait(settings.STREAM_HEARTBEAT_SECONDS)
        if self._over is not None:
            return
        if not self._queue:
            self._cursor = max(self._cursor, self._hub.delivered)
            await self._send(events.heartbeat(self.source, self._cursor))
            return
        chunk = self._queue.popleft()
        self._queued_bytes -= len(chunk.joined)
        if unsent := chunk.after(self._cursor):
            await self._send(unsent)
            self._cursor = chunk.last

    async def _wait(self, seconds: float) -> None:
        """Until the queue has events or the stream is over."""
        self._changed.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            pass

    async def _send(self, body: bytes, *, more: bool = True) -> None:
        """Raises TimeoutError if the client does not read, or when the stream is over meanwhile."""
        try:
            async with asyncio.timeout(SEND_SECONDS) as self._sending:
                await self._send_message({"type": "http.response.body", "body": body, "more_body": more})
        finally:
            self._sending = None

    def _clear(self) -> None:
        self._queue.clear()
        self._queued_bytes = 0
