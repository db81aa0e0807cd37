"""Runs code that uses Django's database connections in threads beside an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import close_old_connections

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
