"""A lock in the database, for tasks that only one host may run at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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
