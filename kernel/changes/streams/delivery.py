"""Sends the events of a stream to its client.

A stream subscribes to the hub, reads the rows between its cursor and the hub's, and then goes on with the events in its
queue. A client that does not read them in time is cut: it connects again with the cursor of its last event.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import Enum, auto
from typing import Any

from django.conf import settings
from django.db import Error

from kernel.changes import reading
from kernel.changes.reading import CursorExpired
from kernel.changes.rows import Cursor
from kernel.changes.streams import events
from kernel.changes.streams.events import Chunk, render
from kernel.changes.streams.hub import Hub, PageMoved, read_channel
from kernel.changes.streams.opening import OpenedStream
from kernel.changes.wakeups import Threads
from kernel.database.sql import first_line

# The time that one send may take, and the bytes that may wait behind it.
SEND_SECONDS = 10.0
QUEUE_BYTES = 1024 * 1024
CATCH_UP_MAX = 100
logger = logging.getLogger(__name__)
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class EndReason(Enum):
    """A stream is ended by the service, or cut because the client is too slow."""

    ENDED = auto()
    CUT = auto()


class Stream:
    """`put`, `end` and `cut` are called in the event loop, never wait, and raise nothing.

    `hub` is ready: its cursor is that of the log. `threads` are those that read the log.
    """

    def __init__(self, opened: OpenedStream, *, hub: Hub, threads: Threads, receive: Receive, send: Send) -> None:
        self.source, self.credential = opened.source, opened.credential
        self._cursor = opened.start
        self._hub, self._threads, self._receive, self._send_message = hub, threads, receive, send
        self._queue: deque[Chunk] = deque()
        self._queued_bytes = 0
        # While the stream catches up, a full queue is emptied: its rows are read from the log.
        self._is_catching_up, self._has_missed = True, False
        self._has_events = asyncio.Event()
        self._end_reason: EndReason | None = None
        self._delivering: asyncio.Task[None] | None = None
        self._is_sending, self._sent_at = False, time.monotonic()

    def put(self, chunk: Chunk) -> None:
        if self._queue and self._queued_bytes + len(chunk.body) > QUEUE_BYTES:
            if not self._is_catching_up:
                self.cut()
                return
            self._has_missed = True
            self._clear()
        if not self._has_missed:
            self._queue.append(chunk)
            self._queued_bytes += len(chunk.body)
            self._has_events.set()

    def end(self) -> None:
        """End the response completely, at once."""
        self._finish(EndReason.ENDED)

    def cut(self) -> None:
        self._finish(EndReason.CUT)

    async def run(self) -> None:
        """Send events until the stream is over. Raises nothing that a client causes."""
        disconnect = asyncio.create_task(self._wait_for_disconnect())
        self._delivering = asyncio.create_task(self._deliver())
        try:
            await asyncio.wait({disconnect, self._delivering}, return_when=asyncio.FIRST_COMPLETED)
            self._hub.groups.discard(self)
            if self._delivering.done() and not self._delivering.cancelled():
                self._delivering.result()
            # A client that does not read would not get the end either.
            if self._end_reason is EndReason.ENDED and not self._is_sending:
                await self._send_end()
        finally:
            self._hub.groups.discard(self)
            disconnect.cancel()
            self._delivering.cancel()

    def _finish(self, reason: EndReason) -> None:
        """Stop the delivery, also while it sends or reads the log; what it has read is discarded."""
        self._end_reason = self._end_reason or reason
        if self._delivering is not None:
            self._delivering.cancel()

    async def _wait_for_disconnect(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _deliver(self) -> None:
        """Send events until the client does not read them, or the task is cancelled."""
        try:
            await self._send(events.greeting(self.source, self._cursor))
            await self._catch_up()
            while True:
                await self._send_next()
        except TimeoutError:
            pass
        except PageMoved:
            # The client connects again, and then follows the page with the new id.
            self.end()
        except Error as error:
            logger.warning("A stream did not catch up: %s", first_line(error))

    async def _catch_up(self) -> None:
        """Subscribe, and read the log up to where the subscription began."""
        self._hub.groups.add(self)
        self._has_missed = True
        while self._has_missed:
            self._clear()
            self._has_missed, target = False, self._hub.cursor
            # Once also beyond the hub's cursor: the log may have another generation, or lack the row of this cursor.
            goes_on = self._cursor != target
            while goes_on:
                # If nothing follows, the log lacks the row of the target: the hub will send a resync.
                goes_on = await self._send_next_rows() and self._cursor.is_before(target)
        self._is_catching_up = False

    async def _send_next_rows(self) -> bool:
        """Whether the log had any. If none is for this stream, it sends its cursor in heartbeats."""
        body, after = await self._threads.run(self._read_on, self._cursor)
        if body or time.monotonic() >= self._sent_at + settings.STREAM_HEARTBEAT_SECONDS:
            await self._send(body or events.heartbeat(self.source, after))
        before, self._cursor = self._cursor, after
        return before != after

    def _read_on(self, cursor: Cursor) -> tuple[bytes, Cursor]:
        """In a thread: the next events of the log, and the cursor after them."""
        try:
            batch = read_channel(self.source.channel, cursor, limit=CATCH_UP_MAX)
        except CursorExpired:
            now = reading.now()
            return events.resync(self.source, now).body, now
        if not batch.rows:
            return b"", batch.next
        rendered = render({self.source: batch.rows}, batch.next.generation)
        chunk = rendered.chunks[self.source]
        return chunk.body, batch.next if rendered.last is None else chunk.last

    async def _send_next(self) -> None:
        """Send what is in the queue, or wait for it and send a heartbeat if nothing comes."""
        if not self._queue and not await self._is_filled_within(settings.STREAM_HEARTBEAT_SECONDS):
            if self._cursor.is_before(self._hub.delivered):
                self._cursor = self._hub.delivered
            await self._send(events.heartbeat(self.source, self._cursor))
            return
        chunk = self._queue.popleft()
        self._queued_bytes -= len(chunk.body)
        if unsent := chunk.after(self._cursor):
            await self._send(unsent)
            self._cursor = chunk.last

    async def _is_filled_within(self, seconds: float) -> bool:
        self._has_events.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._has_events.wait()
        return bool(self._queue)

    async def _send(self, body: bytes, *, more: bool = True) -> None:
        """Raises TimeoutError if the client does not read."""
        self._is_sending = True
        async with asyncio.timeout(SEND_SECONDS):
            await self._send_message({"type": "http.response.body", "body": body, "more_body": more})
        self._is_sending, self._sent_at = False, time.monotonic()

    async def _send_end(self) -> None:
        with suppress(TimeoutError):
            await self._send(b"", more=False)

    def _clear(self) -> None:
        self._queue.clear()
        self._queued_bytes = 0
