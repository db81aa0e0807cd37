"""Runs SQL statements without the ORM. Errors are Django's, rows are tuples.

Errors of PostgreSQL, and of a full disk, in one line.

Nothing here needs Django's settings: `manage.py` reports that one is missing.

Reads many rows, of which only a batch is in memory.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from threading import local
from typing import Any, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet

# Of a file, and of what PostgreSQL answers.
DISK_FULL = {errno.ENOSPC, errno.EDQUOT}
DISK_FULL_STATE = "53100"


def first_line(error: BaseException) -> str:
    """Errors of PostgreSQL have several lines."""
    return str(error).strip().partition("\n")[0]


def full_disk(error: BaseException | None) -> str:
    """What to do, in one sentence, if the error or one that has caused it tells of a full disk; else empty."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            where = f" under {error.filename}" if error.filename else ""
            return f"The disk{where} is full: free some space on it, then run the same command again."
        if getattr(error, "sqlstate", None) == DISK_FULL_STATE:
            return "The disk of PostgreSQL is full: free some space on it, then run the same command again."
        error = error.__cause__ or error.__context__
    return ""


ModelRow = TypeVar("ModelRow", bound=Model)


def in_batches(rows: QuerySet[ModelRow, ModelRow], size: int = 500) -> Iterator[ModelRow]:
    """The rows in the order of their keys. Rows that are written meanwhile may be missing."""
    ordered, last = rows.order_by("pk"), None
    while batch := list(ordered[:size] if last is None else ordered.filter(pk__gt=last)[:size]):
        yield from batch
        last = batch[-1].pk


Values = Sequence[Any] | Mapping[str, Any]
Row = tuple[Any, ...]

# Another try may succeed: serialisation failure, deadlock, foreign key to a row that another transaction has deleted.
RETRYABLE_SQLSTATES = frozenset({"40001", "40P01", "23503"})
# Temporary errors that psycopg does not class as operational: a read-only standby, an idle transaction that timed out.
TRANSIENT_SQLSTATES = frozenset({"25006", "25P03"})


def sqlstate(failure: BaseException | None) -> str | None:
    """The SQLSTATE of one of Django's database errors; None if it is not an error of the server."""
    return getattr(getattr(failure, "__cause__", None), "sqlstate", None)


def fetch_one(statement: str, values: Values = ()) -> Row | None:
    """The first row, or None."""
    row: Row | None = _run(statement, values).fetchone()
    return row


def database_now() -> datetime:
    """The time of PostgreSQL's clock, which decides about expiry: the clocks of the hosts may differ."""
    ((now,),) = fetch_all("SELECT clock_timestamp()")
    return cast(datetime, now)


def fetch_all(statement: str, values: Values = ()) -> list[Row]:
    return list(_run(statement, values).fetchall())


def execute(statement: str, values: Values = ()) -> int:
    """Return the number of changed rows."""
    return int(_run(statement, values).rowcount)


def is_in_transaction() -> bool:
    return bool(_here.database.in_atomic_block)


def renew_connection() -> None:
    """Close this thread's connection with its prepared statements; the next statement opens a new one."""
    _here.database.close()


def allow_long_statements(seconds: int) -> None:
    """The timeout of each further statement of the current transaction."""
    execute("SELECT set_config('statement_timeout', %s, true)", [f"{seconds}s"])
    _here.database.allow_long_statements(seconds)


@contextmanager
def statements_on(alias: str) -> Iterator[None]:
    """All statements of this thread that name no database run on this one. They only read."""
    before = _here.database
    _here.database = connections[alias]
    try:
        yield
    finally:
        _here.database = before


def current_alias() -> str:
    return str(_here.database.alias)


class _Here(local):
    """This thread's connection: Django returns the same one, but searches for it each time."""

    database: Any

    def __getattr__(self, name: str) -> Any:
        """At the first use of a thread: the import of this module may precede the settings."""
        if name != "database":
            raise AttributeError(name)
        self.database = connections[DEFAULT_DB_ALIAS]
        return self.database


_here = _Here()


def _run(statement: str, values: Values) -> Any:
    return _here.database.run(statement, values)
