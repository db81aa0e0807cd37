"""What both commands need while they run: a database, a line of progress, and an end that cleans up."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from psycopg.conninfo import make_conninfo

from config import env
from kernel.database import deployment
from runtime.backups import BackupError
from runtime.data_folder import postgres_of_command
from runtime.postgres import embedded

SECONDS = 2.0


class Progress:
    """Prints a line of progress at most once in SECONDS; None prints nothing."""

    def __init__(self, out: Any) -> None:
        self._out = out
        self._printed = time.monotonic()

    def __call__(self, line: str) -> None:
        if self._out is not None and time.monotonic() - self._printed > SECONDS:
            self._out.write(line)
            self._printed = time.monotonic()


@contextmanager
def database_url(*, to_restore: bool = False) -> Iterator[str]:
    """The connection string of the database. An embedded PostgreSQL that does not run is started for the block.

    `to_restore`: also a new one; the caller has sole use of DATA_DIR. Raises CannotRun if another process starts it.

    Of several hosts, the one that takes writes: standbys may lack acknowledged ones. `DATABASE_DIRECT_URL` is first:
    a pooler passes on neither replication nor the sessions of a dump.
    """
    if env.text("DATABASE_DIRECT_URL") or env.text("DATABASE_URL"):
        yield make_conninfo("", **deployment.session_parameters(""))
        return
    cluster = embedded(settings.DATA_DIR)
    if not (to_restore or cluster.is_made()):
        raise BackupError(f"{settings.DATA_DIR} has no database: set DATA_DIR or DATABASE_URL to that of the service.")
    with postgres_of_command(settings.DATA_DIR, is_locked=to_restore):
        yield cluster.url


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM ends the block like Ctrl-C, so that drafts are deleted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
