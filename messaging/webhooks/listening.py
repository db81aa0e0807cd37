"""Calls a function when the change log has new rows (`config.changes.wakeups`)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Self

from django.db import Error, connection
from psycopg import Error as DriverError

from config.changes.wakeups import CHANNEL

LISTEN = f"LISTEN {CHANNEL}"
CHECK_SECONDS = 0.5
PAUSE_AFTER_ERROR_SECONDS = 1.0
logger = logging.getLogger(__name__)


class Listener(threading.Thread):
    """A thread with a connection of its own; it connects again after an error."""

    def __init__(self, wake: Callable[[], object]) -> None:
        super().__init__(name="listener", daemon=True)
        self._wake = wake
        self._stopped = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        self._stopped.set()
        self.join()

    def run(self) -> None:
        while not self._stopped.is_set():
            session: Any = connection.copy()
            try:
                with session.cursor() as cursor:
                    cursor.execute(LISTEN)
                self._listen(session.connection)
            except (Error, DriverError) as failure:
                logger.warning("No wake-ups: %s", failure)
                self._stopped.wait(PAUSE_AFTER_ERROR_SECONDS)
            finally:
                session.close()

    def _listen(self, session: Any) -> None:
        while not self._stopped.is_set():
            # A row may have been written before the first LISTEN.
            for _ in session.notifies(timeout=CHECK_SECONDS, stop_after=1):
                self._wake()
