"""Reads the log once for all streams of the process, and hands them the events.

The hub reads when it is woken (`kernel.changes.wakeups`), and once a second. Under load, deliveries are BATCH_SECONDS
apart or more: each stream then gets the events of that time at once, which costs less than one by one.

A stream that subscribes gets the rows after `cursor`; those before it, it reads itself. `delivered` is the cursor up to
which all streams have their events in their queues.

The open streams by their source.

Reads the log in a thread with a database connection: for the hub, which also checks credentials, and for streams.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple, Protocol

from django.conf import settings
from django.db import Error
from django.utils.module_loading import import_string

from kernel.api.credentials import ANONYMOUS, Credential
from kernel.changes import reading
from kernel.changes.channels import Channel, WholeLog
from kernel.changes.reading import Batch, CursorExpired
from kernel.changes.rows import START, ChangeRow, Cursor
from kernel.changes.streams.events import Chunk, Rendered, render, resync
from kernel.changes.streams.opening import Source
from kernel.changes.wakeups import Threads, listen
from kernel.database.sql import first_line
from kernel.metrics.definitions import log_read_at

# What a row is looked up by: ("page", its id), ("account", its id), …
Key = tuple[str, object]


class Subscriber(Protocol):
    """An open stream (`kernel.changes.streams.delivery.Stream`). Its methods never wait."""

    @property
    def source(self) -> Source: ...

    @property
    def credential(self) -> Credential: ...

    def put(self, chunk: Chunk) -> None:
        """Send these events."""

    def end(self) -> None:
        """End the response completely, at once."""

    def cut(self) -> None:
        """End it without its last part."""


class Groups:
    """Finds the sources of a row without a look at all streams."""

    def __init__(self) -> None:
        self._sources: dict[Key, dict[Source, set[Subscriber]]] = defaultdict(dict)

    def __iter__(self) -> Iterator[Subscriber]:
        for sources in self._sources.values():
            for streams in sources.values():
                yield from streams

    def add(self, stream: Subscriber) -> None:
        self._sources[_key_of(stream.source.channel)].setdefault(stream.source, set()).add(stream)

    def discard(self, stream: Subscriber) -> None:
        key = _key_of(stream.source.channel)
        sources = self._sources[key]
        streams = sources.get(stream.source, set())
        streams.discard(stream)
        if not streams:
            sources.pop(stream.source, None)
        if not sources:
            del self._sources[key]

    def streams_of(self, source: Source) -> Sequence[Subscriber]:
        return list(self._sources.get(_key_of(source.channel), {}).get(source, ()))

    def of_page(self, page_id: str) -> Sequence[Subscriber]:
        sources = self._sources.get(("page", page_id), {})
        return [stream for streams in sources.values() for stream in streams]

    def matching(self, rows: Iterable[ChangeRow]) -> dict[Source, list[ChangeRow]]:
        """The sources that include any of the rows, with those rows."""
        found: dict[Source, list[ChangeRow]] = defaultdict(list)
        for row in rows:
            for key in _keys_of(row):
                for source in self._sources.get(key, ()):
                    if source.channel.includes(row):
                        found[source].append(row)
        return dict(found)


def _key_of(channel: Channel) -> Key:
    if channel.account_id is not None:
        return "account", channel.account_id
    if channel.page_id is not None:
        return "page", channel.page_id
    if channel.community_id is not None:
        return "community", channel.community_id
    return "all", None


def _keys_of(row: ChangeRow) -> list[Key]:
    if row.account_id is not None:
        return [("account", row.account_id)]
    return [("page", row.page_id), ("community", row.community_id), ("all", None)]


READ_MAX = 500


class ReadResult(NamedTuple):
    """What one read has found. `is_blocked`: rows follow that cannot be read yet; `expired`: rows were missed.

    `moved`: the earlier ids of pages that were moved. Streams of these do not get the rows.
    """

    batch: Batch
    is_blocked: bool = False
    expired: bool = False
    ended: Sequence[Credential] = ()
    moved: Set[str] = frozenset()


class PageMoved(Exception):
    """The page of a channel was moved: its rows are those of a page with another id."""


def read_log(after: Cursor | None, credentials: Sequence[Credential]) -> ReadResult:
    """The rows after a cursor; None: the cursor of now. If the check of the credentials fails, nothing is read."""
    ended = ended_credentials(credentials)
    if after is None:
        return ReadResult(Batch([], reading.now()), ended=ended)
    try:
        batch = reading.read(WholeLog(), after, limit=READ_MAX)
    except CursorExpired:
        return ReadResult(Batch([], reading.now()), expired=True, ended=ended)
    is_blocked = not batch.has_more and reading.is_followed(batch.next.position)
    # After the rows were read: a move changes the page of rows in its transaction.
    return ReadResult(batch, is_blocked, ended=ended, moved=_moved(row.page_id for row in batch.rows))


def read_channel(channel: Channel, after: Cursor, *, limit: int) -> Batch:
    """The rows of a channel after a cursor. Raises CursorExpired (410), and PageMoved: some may be missing."""
    batch = reading.read(channel, after, limit=limit)
    if channel.page_id in _moved([channel.page_id]):
        raise PageMoved
    return batch


def ended_credentials(credentials: Sequence[Credential]) -> list[Credential]:
    """Those that are not valid any more, by the functions in the setting CREDENTIAL_CHECKS."""
    if not credentials:
        return []
    return [ended for path in settings.CREDENTIAL_CHECKS for ended in import_string(path)(credentials)]


def _moved(page_ids: Iterable[str | None]) -> Set[str]:
    """By the function in the setting MOVED_PAGES."""
    known = {page_id for page_id in page_ids if page_id is not None}
    moved: Set[str] = import_string(settings.MOVED_PAGES)(known) if known else frozenset()
    return moved


READ_SECONDS = 1.0
# The shortest time between two deliveries, and the longest: a process that is busy sending collects more at once.
BATCH_SECONDS, BATCH_MAX_SECONDS = 0.1, 0.5
# While a row waits for an older transaction to end, which no notification announces: first and longest pause.
BLOCKED_SECONDS, BLOCKED_MAX_SECONDS = 0.02, 0.25
ERROR_SECONDS = 0.5
# The shortest time between two checks of the credentials; the longest is READ_SECONDS.
CHECK_SECONDS = 0.5
NEVER = float("-inf")
logger = logging.getLogger(__name__)


class Hub:
    def __init__(self) -> None:
        self.groups = Groups()
        self.cursor = self.delivered = Cursor(0, START)
        self.ready = asyncio.Event()
        self._woken = asyncio.Event()
        self._reader = Threads("hub", count=1)
        self._checked = NEVER
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
                pause, shortest = await self._read_and_deliver()
            except Error as error:
                logger.warning("Streams wait for PostgreSQL: %s", first_line(error))
                pause, shortest = ERROR_SECONDS, 0.0
            except Exception:
                # A defect: the streams go on, and the next read may succeed.
                logger.exception("The change log was not read")
                pause, shortest = ERROR_SECONDS, 0.0
            await asyncio.sleep(max(0.0, started + shortest - time.monotonic()))
            await self._wait(pause)

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()

    async def _read_and_deliver(self) -> tuple[float, float]:
        """Read and deliver once. Returns the longest pause, which a notification ends, and the shortest."""
        result = await self._checked_read()
        matching = self.groups.matching(result.batch.rows)
        # Before the events are rendered: streams that subscribe meanwhile read these rows themselves. If the cursor
        # then goes back, they get some of them again and skip these by their positions.
        before, self.cursor = self.cursor, result.batch.next
        if result.expired:
            self._resync()
        elif matching:
            try:
                self.cursor = await self._deliver(matching)
            except Error:
                # The next read begins here again. PostgreSQL may be away for long, so it checks the credentials first.
                self.cursor, self._checked = before, NEVER
                raise
        self.delivered = self.cursor
        if not result.batch.has_more and not result.is_blocked and self.cursor == result.batch.next:
            log_read_at.set(time.time())
        self.ready.set()
        return self._pause_after(result), await pause_after_delivery() if matching else 0.0

    def _pause_after(self, result: ReadResult) -> float:
        if result.batch.has_more or self.cursor != result.batch.next:
            return 0.0
        if not result.is_blocked:
            self._blocked_pause = BLOCKED_SECONDS
            return READ_SECONDS
        pause, self._blocked_pause = self._blocked_pause, min(2 * self._blocked_pause, BLOCKED_MAX_SECONDS)
        return pause

    async def _checked_read(self) -> ReadResult:
        """Read rows, and end the streams of pages that were moved, and of credentials that are not valid any more."""
        now = time.monotonic()
        is_due = now >= self._checked + CHECK_SECONDS
        after = self.cursor if self.ready.is_set() else None
        result = await self._reader.run(read_log, after, self._credentials() if is_due else [])
        if is_due:
            self._checked = now
        ended = {id(credential) for credential in result.ended}
        invalid = [stream for stream in self.groups if id(stream.credential) in ended] if ended else []
        for stream in [*invalid, *(stream for page_id in result.moved for stream in self.groups.of_page(page_id))]:
            stream.end()
            self.groups.discard(stream)
        return result

    def _credentials(self) -> list[Credential]:
        unique = {id(stream.credential): stream.credential for stream in self.groups}
        return [credential for credential in unique.values() if credential is not ANONYMOUS]

    async def _deliver(self, matching: Mapping[Source, Sequence[ChangeRow]]) -> Cursor:
        """Deliver the events of rows. Returns the cursor after them: a delivery is limited (CHUNK_BYTES)."""
        try:
            rendered = await self._reader.run(render, matching, self.cursor.generation)
        except Error:
            raise
        except Exception:
            logger.exception("The events of streams were not rendered; their clients connect again")
            rendered = Rendered({}, None)
            for stream in self._streams_of(matching):
                stream.cut()
        for source, chunk in rendered.chunks.items():
            for stream in self.groups.streams_of(source):
                _put(stream, chunk)
        return self.cursor if rendered.last is None else Cursor(self.cursor.generation, rendered.last)

    def _streams_of(self, sources: Iterable[Source]) -> list[Subscriber]:
        return [stream for source in sources for stream in self.groups.streams_of(source)]

    def _resync(self) -> None:
        for stream in list(self.groups):
            _put(stream, resync(stream.source, self.cursor))


def _put(stream: Subscriber, chunk: Chunk) -> None:
    """A defect in one stream ends that stream only; its client connects again after its last event."""
    try:
        stream.put(chunk)
    except Exception:
        logger.exception("A stream was cut")
        stream.cut()


async def pause_after_delivery() -> float:
    """The shortest time until the next delivery: twice the time in which all streams have begun to send this one."""
    started = time.monotonic()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return min(max(BATCH_SECONDS, 2 * (time.monotonic() - started)), BATCH_MAX_SECONDS)
