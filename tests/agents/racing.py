"""Concurrent calls, each in a separate thread with a separate connection."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connections

Result = TypeVar("Result")


def race(count: int, call: Callable[[int], Result]) -> list[Result]:
    """Run `call(0)` to `call(count - 1)` at the same time; returns their results in this order."""
    barrier = Barrier(count)

    def run(number: int) -> Result:
        try:
            barrier.wait()
            return call(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))
