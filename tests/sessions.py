"""Runs work on another database connection, and waits until that connection is blocked by this one."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.db import connection, connections

from tests.waiting import PATIENCE_SECONDS

WAIT_SECONDS = PATIENCE_SECONDS


def in_background(pool: ThreadPoolExecutor, work: Callable[[], Any]) -> Future[Any]:
    def closing() -> Any:
        try:
            return work()
        finally:
            connections.close_all()

    return pool.submit(closing)


def wait_until_another_waits() -> None:
    """Return when another session waits for a lock of this one."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        if another_waits():
            return
        time.sleep(0.01)
    raise AssertionError("no session waits")


def another_waits() -> bool:
    """Whether another session waits for a lock of this one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))")
        return bool(cursor.fetchone()[0])
