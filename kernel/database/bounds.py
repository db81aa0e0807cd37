"""Bounds of the time for which a connection waits for PostgreSQL.

The timeouts of a session are PostgreSQL's own. A server that is frozen, or that no packet reaches any more, ends
nothing: the client has to.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local
from typing import Any, TypeVar

from psycopg import Connection, OperationalError, errors
from psycopg.abc import PQGen

T = TypeVar("T")
# What an answer may take beyond the timeout of its statement.
MARGIN_SECONDS = 2.0


class _Thread(local):
    until: float | None = None


_thread = _Thread()


@contextmanager
def answers_within(seconds: float) -> Iterator[None]:
    """All statements of this thread together wait no longer than this, even if the timeout of their session is longer.

    A connection that gets no answer is closed and raises OperationalError. Opening one takes two seconds for each host.
    """
    before = _thread.until
    _thread.until = time.monotonic() + seconds
    try:
        yield
    finally:
        _thread.until = before


def is_hurried() -> bool:
    """Whether this thread is inside `answers_within`."""
    return _thread.until is not None


class BoundedConnection(Connection[Any]):
    """A connection that is closed if the server has not answered for `answer_seconds`; None: no bound."""

    answer_seconds: float | None = None
    # Of a standby: the last known position of the log that it has replayed.
    replayed = 0

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        seconds = self.answer_seconds
        if _thread.until is not None:
            left = max(0.001, _thread.until - time.monotonic())
            seconds = left if seconds is None else min(seconds, left)
        if seconds is None:
            return super().wait(gen, interval)
        try:
            return super().wait(gen, interval, seconds)
        except errors._WaitTimeout:
            # The state of the session is unknown. Only its server can end it.
            self.pgconn.finish()
            raise OperationalError(f"PostgreSQL has not answered for {seconds:.1f} s") from None
