"""Hosts that would do the same to one database take turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

ASK = "SELECT pg_try_advisory_lock(hashtext('community-messaging'), hashtext(%s))"
# A host that vanishes gives its turn back within a minute.
KEEPALIVE = "SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 15; SET tcp_keepalives_count = 2"
ASK_SECONDS = 0.5
SAY_SECONDS = 10


@contextmanager
def host_lock(connection: Any, *, task: str, say: Callable[[str], None]) -> Iterator[None]:
    """Holds a lock of the database on a connection of its own, so that no rollback or reconnect gives it up.

    `task` is what the host that has its turn does (`migrates`), for those that wait.
    """
    holder = connection.copy()
    try:
        with holder.cursor() as cursor:
            cursor.execute(KEEPALIVE)
            _wait(cursor, task, say)
        yield
    finally:
        holder.close()


def _wait(cursor: Any, task: str, say: Callable[[str], None]) -> None:
    said = float("-inf")
    while cursor.execute(ASK, [task]) and cursor.fetchone() == (False,):
        if time.monotonic() - said >= SAY_SECONDS:
            say(f"Another host {task}; waiting …")
            said = time.monotonic()
        time.sleep(ASK_SECONDS)
