"""A view of the database that does not change while an export reads it, on a connection of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import IsolationLevel

from kernel.database.bounds import MARGIN_SECONDS
from kernel.database.sql import Row

# A generic plan would take a scope for a small one.
SETTINGS = """
SELECT set_config('statement_timeout', %s, true), set_config('idle_in_transaction_session_timeout', %s, true),
    set_config('plan_cache_mode', 'force_custom_plan', true)
"""
# Posts have at most 20,000 characters and 64 KB of JSON, most of them some hundred bytes.
ROWS_AT_ONCE = 200


class Snapshot:
    """A read-only transaction. It has no transaction id, so readers of the change log do not wait for it."""

    def __init__(self, database: Any) -> None:
        self._database = database

    def all(self, statement: str, values: Mapping[str, Any] | Sequence[Any]) -> list[Row]:
        with self._database.cursor() as cursor:
            cursor.execute(statement, values)
            return list(cursor.fetchall())

    def in_batches(self, statement: str, values: Mapping[str, Any]) -> Iterator[list[Row]]:
        """The rows of a server-side cursor, ROWS_AT_ONCE at once."""
        with self._database.chunked_cursor() as cursor:
            cursor.execute(statement, values)
            while rows := cursor.fetchmany(ROWS_AT_ONCE):
                yield rows


@contextmanager
def open_snapshot(*, statement_seconds: int, idle_seconds: int) -> Iterator[Snapshot]:
    """Not the connection of the thread: a response is sent while middlewares use that one.

    `statement_seconds`: the first rows come after all were sorted; 0 is no limit. `idle_seconds`: how long a slow
    reader may leave the transaction idle. Leaving the block ends the transaction.
    """
    # A server may close the response in another thread than the one that opened it.
    database: Any = connections[DEFAULT_DB_ALIAS].copy()
    database.inc_thread_sharing()
    try:
        database.connect()
        database.connection.isolation_level = IsolationLevel.REPEATABLE_READ
        database.connection.read_only = True
        database.set_autocommit(False)
        with database.cursor() as cursor:
            cursor.execute(SETTINGS, [f"{statement_seconds}s", f"{idle_seconds}s"])
        # The copy waits as long as a request does.
        database.connection.answer_seconds = statement_seconds + MARGIN_SECONDS if statement_seconds else None
        yield Snapshot(database)
    finally:
        database.close()
