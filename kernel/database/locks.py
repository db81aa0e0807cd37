"""A lock in the database, for tasks that only one host may run at a time.

Changes of tables in use: a lock that is not granted at once is given up and tried again.

While a change waits for a table lock, all later requests for the table wait behind it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from kernel.database.sql import execute, sqlstate

# lock_not_available and deadlock_detected.
RETRYABLE = frozenset({"55P03", "40P01"})
LOCK_TIMEOUT = "150ms"
# PostgreSQL cancels an autovacuum that blocks a lock after deadlock_timeout, which only some roles may set.
BEFORE_AUTOVACUUM = """
SELECT set_config('deadlock_timeout', '100ms', false) WHERE has_parameter_privilege('deadlock_timeout', 'SET')
"""
FIRST_PAUSE_SECONDS, GROWTH, PAUSE_MAX_SECONDS = 0.5, 1.5, 10.0
TRYING_SECONDS = 600.0
OLDEST_TRANSACTION = """
SELECT pid, application_name, extract(epoch FROM clock_timestamp() - xact_start)::int FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL ORDER BY xact_start LIMIT 1
"""


class TableInUse(Exception):
    """A lock was not granted in TRYING_SECONDS. The text says what to do."""


def change_briefly(change: Callable[[], None], *, say: Callable[[str], None]) -> None:
    """Run `change` in a transaction that waits LOCK_TIMEOUT for a lock; repeat it until it gets all; raises TableInUse.

    `say` prints each wait.
    """

    def attempt() -> None:
        with transaction.atomic():
            execute("SELECT set_config('lock_timeout', %s, true)", [LOCK_TIMEOUT])
            execute(BEFORE_AUTOVACUUM.replace("false", "true"))
            change()

    repeat_until_locked(attempt, database=connection, say=say)


def repeat_until_locked(
    attempt: Callable[[], None], *, database: BaseDatabaseWrapper, say: Callable[[str], None]
) -> None:
    """Call `attempt`, which sets the lock timeout, until it gets all of its locks; raises TableInUse."""
    pause, deadline = FIRST_PAUSE_SECONDS, time.monotonic() + TRYING_SECONDS
    while not _succeeds(attempt):
        if time.monotonic() + pause > deadline:
            raise TableInUse(
                f"A table was in use for {TRYING_SECONDS:.0f} s{by_whom(database)}. End the transaction and try again."
            )
        say(f"A table is in use{by_whom(database)}; the change is tried again in {pause:.1f} s …")
        time.sleep(pause)
        pause = min(pause * GROWTH, PAUSE_MAX_SECONDS)


def _succeeds(attempt: Callable[[], None]) -> bool:
    try:
        attempt()
    except OperationalError as failure:
        if sqlstate(failure) not in RETRYABLE:
            raise
        return False
    return True


def by_whom(database: BaseDatabaseWrapper) -> str:
    with database.cursor() as cursor:
        cursor.execute(OLDEST_TRANSACTION)
        row = cursor.fetchone()
    if row is None:
        return ""
    pid, application, seconds = row
    return f" (the oldest transaction: process {pid}, {application or 'unnamed'}, open for {seconds} s)"


ASK = "SELECT pg_try_advisory_lock(hashtext('community-messaging'), hashtext(%s))"
# The lock of a host that vanishes is released within a minute.
KEEPALIVE = "SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 15; SET tcp_keepalives_count = 2"
ASK_SECONDS = 0.5
SAY_SECONDS = 10


class HostLockTaken(Exception):
    """Another host has the lock."""


@contextmanager
def host_lock(connection: Any, *, task: str, say: Callable[[str], None], waits: bool = True) -> Iterator[None]:
    """Lock a task on a separate connection, so that no rollback or reconnect releases the lock.

    `task` is a verb (`migrates`); hosts that wait print it with `say`. Without `waits`, raises HostLockTaken instead.
    """
    lock_connection = connection.copy()
    try:
        with lock_connection.cursor() as cursor:
            cursor.execute(KEEPALIVE)
            if waits:
                _wait(cursor, task, say)
            elif not _is_granted(cursor, task):
                raise HostLockTaken(task)
        yield
    finally:
        lock_connection.close()


def _wait(cursor: Any, task: str, say: Callable[[str], None]) -> None:
    printed = float("-inf")
    while not _is_granted(cursor, task):
        if time.monotonic() - printed >= SAY_SECONDS:
            say(f"Another host {task}; waiting …")
            printed = time.monotonic()
        time.sleep(ASK_SECONDS)


def _is_granted(cursor: Any, task: str) -> bool:
    cursor.execute(ASK, [task])
    return bool(cursor.fetchone() == (True,))
