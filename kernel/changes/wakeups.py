"""Tells the stream processes, after a commit, that the log has new rows.

A NOTIFY in the transaction of a write would make PostgreSQL serialise all commits. So a thread of each process sends
one for all commits of the last WAKEUP_SECONDS. A process that dies before it loses a wake-up and no change: streams
also read the log once a second.
"""

from __future__ import annotations

import logging
import threading
import time

from django.conf import settings
from django.db import Error, connections, transaction

from kernel.database.errors import first_line
from kernel.database.sql import execute

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
