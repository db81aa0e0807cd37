"""Tells the stream processes, after a commit, that the log has new rows.

A NOTIFY in the transaction of a write would make PostgreSQL serialise all commits. So a thread of each process sends
one for all commits of the last WAKEUP_SECONDS. A process that dies before it loses a wake-up and no change: streams
also read the log once a second.

Runs code that uses Django's database connections in threads beside an event loop.

The one LISTEN connection of a process that follows the change log.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, close_old_connections, connections, transaction

from kernel.database.deployment import DIRECT
from kernel.database.sql import execute, first_line

Result = TypeVar("Result")


class Threads:
    """A pool of threads. Each has a database connection of its own."""

    def __init__(self, name: str, *, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name)

    async def run(self, function: Callable[..., Result], *arguments: object) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._pool, _run, function, *arguments)


def _run(function: Callable[..., Result], *arguments: object) -> Result:
    # As at the start of a request: a connection that PostgreSQL has closed is replaced.
    close_old_connections()
    return function(*arguments)


CHANNEL = "changes"
NOTIFY = f"NOTIFY {CHANNEL}"
# The thread's own transaction, without a flush to the disk: after a crash nobody waits for a wake-up of before it.
NOTIFY_UNFLUSHED = f"BEGIN; SET LOCAL synchronous_commit TO off; {NOTIFY}; COMMIT"
PAUSE_AFTER_ERROR_SECONDS = 1.0
logger = logging.getLogger(__name__)


def announce() -> None:
    """Wake the streams once the current transaction is committed."""
    transaction.on_commit(_wake)


def _wake() -> None:
    if settings.WAKEUP_SECONDS:
        _announcer.due.set()
        _announcer.start_once()
    else:
        execute(NOTIFY)


class _Announcer:
    """The thread, which starts with the first wake-up and has a connection of its own."""

    def __init__(self) -> None:
        self.due = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start_once(self) -> None:
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="wakeups", daemon=True)
                try:
                    thread.start()
                except RuntimeError:
                    # No thread can be started: the streams find the change by themselves; the next wake-up retries.
                    logger.exception("The streams were not woken")
                else:
                    self._thread = thread

    def _run(self) -> None:
        while self.due.wait():
            self.due.clear()
            time.sleep(self._notify())

    def _notify(self) -> float:
        """Notify, and return the pause before the next one in seconds."""
        try:
            execute(NOTIFY_UNFLUSHED)
            return float(settings.WAKEUP_SECONDS)
        except Error as error:
            logger.warning("The streams were not woken: %s", first_line(error))
        except Exception:
            # A defect: the thread goes on, and the next try may succeed.
            logger.exception("The streams were not woken")
        connections.close_all()
        self.due.set()
        return PAUSE_AFTER_ERROR_SECONDS


_announcer = _Announcer()


FIRST_PAUSE_SECONDS, PAUSE_MAX_SECONDS = 0.1, 2.0
# A server that is frozen, or that is no primary any more, sends nothing: so it is asked.
SILENT_SECONDS, ANSWER_SECONDS = 10.0, 5.0


async def listen(wake: Callable[[], None], *, name: str) -> None:
    """Call `wake` at every notification, until cancelled. A lost connection is replaced.

    `name` is that of the connection in pg_stat_activity.
    """
    pause = FIRST_PAUSE_SECONDS
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(**parameters(name), autocommit=True) as connection:
                await connection.execute(f"LISTEN {CHANNEL}")
                pause = FIRST_PAUSE_SECONDS
                # For the notifications since the last connection.
                wake()
                while True:
                    async for _notification in connection.notifies(timeout=SILENT_SECONDS):
                        wake()
                    await asyncio.wait_for(connection.execute("SELECT 1"), ANSWER_SECONDS)
        except (psycopg.Error, OSError, TimeoutError) as error:
            logger.warning("PostgreSQL gives no wake-ups; the change log is read at intervals: %s", first_line(error))
        await asyncio.sleep(pause)
        pause = min(2 * pause, PAUSE_MAX_SECONDS)


def parameters(name: str) -> dict[str, Any]:
    """Those of Django's connections, without its classes for synchronous ones. A pooler passes on no notifications."""
    alias = DIRECT if DIRECT in connections else DEFAULT_DB_ALIAS
    parameters = dict(connections[alias].get_connection_params())
    for option in ("context", "cursor_factory"):
        parameters.pop(option, None)
    return parameters | {"application_name": f"community-messaging {name}"}
