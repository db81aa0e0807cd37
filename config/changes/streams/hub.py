"""Reads the log once for all streams of the process, and hands them the events.

The hub reads when it is woken (`config.changes.wakeups`), and once a second. Under load, deliveries are BATCH_SECONDS
apart or more: each stream then gets the events of that time at once, which costs less than one by one.

A stream that subscribes gets the rows after `cursor`; those before it, it reads itself. `delivered` is the cursor up to
which all streams have their events in their queues.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.conf import settings
from django.db import Error
from django.utils.module_loading import import_string

from config.api.credentials import ANONYMOUS, Credential
from config.changes import reading
from config.changes.channels import WholeLog
from config.changes.exceptions import CursorExpired
from config.changes.listening import listen
from config.changes.reading import Batch
from config.changes.rows import START, ChangeRow, Cursor
from config.changes.streams.events import Chunk, resync
from config.changes.streams.groups import Groups
from config.changes.streams.rendering import render
from config.changes.streams.sources import Source
from config.changes.threads import Threads, first_line

LOOK_SECONDS = 1.0
# The shortest time between two deliveries, and the longest: a process that is busy sending collects more at once.
BATCH_SECONDS, BATCH_MAX_SECONDS = 0.1, 0.5
# While a row waits for an older transaction to end, which no notification announces: first and longest pause.
BLOCKED_SECONDS, BLOCKED_MAX_SECONDS = 0.02, 0.25
ERROR_SECONDS = 0.5
READ_MAX = 500
# The shortest time between two checks of the credentials; the longest is LOOK_SECONDS.
CHECK_SECONDS = 0.5
logger = logging.getLogger(__name__)


class Look(NamedTuple):
    """What one read has found. `is_blocked`: rows follow that cannot be read yet; `expired`: rows were missed."""

    batch: Batch
    is_blocked: bool = False
    expired: bool = False
    ended: Sequence[Credential] = ()


class Hub:
    def __init__(self) -> None:
        self.groups = Groups()
        self.cursor = self.delivered = Cursor(0, START)
        self.ready = asyncio.Event()
        self._woken = asyncio.Event()
        self._reader = Threads("hub", count=1)
        self._checked = 0.0
        self._blocked_pause = BLOCKED_SECONDS

    async def run(self) -> None:
        """Follow the log until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(listen(self._woken.set, name="streams"))
            tasks.create_task(self._follow())

    async def _follow(self) -> None:
        while True:
            started = time.monotonic()
            try:
                pause, rest = await self._look()
            except Error as error:
                logger.warning("Streams wait for PostgreSQL: %s", first_line(error))
                pause, rest = ERROR_SECONDS, 0.0
            except Exception:
                # A defect: the streams go on, and the next read may succeed.
                logger.exception("The change log was not read")
                pause, rest = ERROR_SECONDS, 0.0
            await asyncio.sleep(max(0.0, started + rest - time.monotonic()))
            await self._wait(pause)

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()

    async def _look(self) -> tuple[float, float]:
        """Read and deliver once. Returns the longest pause, which a notification ends, and the shortest."""
        look = await self._reader.run(self._read, self._credentials_to_check())
        self._end(look.ended)
        matching = self.groups.matching(look.batch.rows)
        # Before the events are rendered: streams that subscribe meanwhile read these rows themselves.
        self.cursor = look.batch.next
        if look.expired:
            self._resync()
        elif matching:
            await self._deliver(matching)
        self.delivered = self.cursor
        self.ready.set()
        return self._pause_after(look), await _rest() if matching else 0.0

    def _pause_after(self, look: Look) -> float:
        if look.batch.has_more:
            return 0.0
        if not look.is_blocked:
            self._blocked_pause = BLOCKED_SECONDS
            return LOOK_SECONDS
        pause, self._blocked_pause = self._blocked_pause, min(2 * self._blocked_pause, BLOCKED_MAX_SECONDS)
        return pause

    def _read(self, credentials: Sequence[Credential]) -> Look:
        """In the reader's thread. First the credentials: without their check, no event is delivered."""
        ended = ended_credentials(credentials)
        if not self.ready.is_set():
            return Look(Batch([], reading.now()), ended=ended)
        try:
            batch = reading.read(WholeLog(), self.cursor, limit=READ_MAX)
        except CursorExpired:
            return Look(Batch([], reading.now()), expired=True, ended=ended)
        return Look(batch, not batch.has_more and reading.is_followed(batch.next.position), ended=ended)

    def _credentials_to_check(self) -> list[Credential]:
        if time.monotonic() < self._checked + CHECK_SECONDS:
            return []
        self._checked = time.monotonic()
        unique = {id(stream.credential): stream.credential for stream in self.groups}
        return [credential for credential in unique.values() if credential is not ANONYMOUS]

    def _end(self, ended: Iterable[Credential]) -> None:
        if ended_ids := {id(credential) for credential in ended}:
            for stream in list(self.groups):
                if id(stream.credential) in ended_ids:
                    stream.end()

    async def _deliver(self, matching: Mapping[Source, Sequence[ChangeRow]]) -> None:
        for source, chunk in (await self._rendered(matching)).items():
            for stream in self.groups.streams_of(source):
                stream.put(chunk)

    async def _rendered(self, matching: Mapping[Source, Sequence[ChangeRow]]) -> dict[Source, Chunk]:
        """Rendered events. Without PostgreSQL it waits; after any other error the clients connect again."""
        while True:
            try:
                return await self._reader.run(render, matching, self.cursor.generation)
            except Error as error:
                logger.warning("Streams wait for PostgreSQL: %s", first_line(error))
                await asyncio.sleep(ERROR_SECONDS)
            except Exception:
                logger.exception("The events of a stream were not rendered")
                for source in matching:
                    for stream in self.groups.streams_of(source):
                        stream.cut()
                return {}

    def _resync(self) -> None:
        for stream in list(self.groups):
            stream.put(resync(stream.source, self.cursor))


async def _rest() -> float:
    """The shortest time until the next delivery: twice the time in which all streams have begun to send this one."""
    started = time.monotonic()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return min(max(BATCH_SECONDS, 2 * (time.monotonic() - started)), BATCH_MAX_SECONDS)


def ended_credentials(credentials: Sequence[Credential]) -> list[Credential]:
    """Those that are not valid any more, by the functions in the setting CREDENTIAL_CHECKS."""
    if not credentials:
        return []
    return [ended for path in settings.CREDENTIAL_CHECKS for ended in import_string(path)(credentials)]
