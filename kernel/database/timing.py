"""Cursors that measure their statements: for metrics, and for a log line of each slow one."""

from __future__ import annotations

import logging
import time
from typing import Any

from django.conf import settings
from django.db.backends.postgresql.base import Cursor as DjangoCursor
from psycopg import Cursor

from kernel.metrics.definitions import slow_statements
from kernel.metrics.exposition import STATEMENTS

TEXT_MAX = 2_000
# Log lines of slow statements a second: where everything is slow, they must not fill the disk.
LINES_A_SECOND = 5
logger = logging.getLogger(__name__)


class Measured:
    """A mixin of psycopg's cursors."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        started = time.perf_counter()
        try:
            return super().execute(query, params, **options)  # type: ignore[misc]
        finally:
            observe(query, time.perf_counter() - started)

    def executemany(self, query: Any, params_seq: Any, **options: Any) -> None:
        started = time.perf_counter()
        try:
            super().executemany(query, params_seq, **options)  # type: ignore[misc]
        finally:
            observe(query, time.perf_counter() - started)


class MeasuredCursor(Measured, Cursor):
    """The cursor of `DatabaseWrapper.run`."""


class MeasuredDjangoCursor(Measured, DjangoCursor):
    """The cursor of Django's ORM."""


class _Lines:
    """Counts the lines of the current second. Threads may log a line more."""

    def __init__(self) -> None:
        self._second, self._count = 0, 0

    def may_log(self) -> bool:
        second = int(time.monotonic())
        if second != self._second:
            self._second, self._count = second, 0
        self._count += 1
        return self._count <= LINES_A_SECOND


_lines = _Lines()


def observe(query: Any, seconds: float) -> None:
    if settings.METRICS:
        STATEMENTS.add(None, seconds)
    limit = settings.SLOW_STATEMENT_MS
    if limit and seconds * 1000 >= limit:
        slow_statements.inc()
        if _lines.may_log():
            _log(query, seconds)


def _log(query: Any, seconds: float) -> None:
    """The text has placeholders instead of values, which may be personal data."""
    text = " ".join(_text_of(query).split())[:TEXT_MAX]
    fields = {"milliseconds": round(seconds * 1000), "statement": text}
    logger.warning("A statement took %(milliseconds)d ms: %(statement)s", fields, extra={"fields": fields})


def _text_of(query: Any) -> str:
    """Composed statements may contain values."""
    if isinstance(query, bytes):
        return query.decode(errors="replace")
    return query if isinstance(query, str) else type(query).__name__
