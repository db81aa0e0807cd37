"""How a statement that is written, not built, is run: errors come as Django's, rows as tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from threading import local
from typing import Any, cast

from django.db import DEFAULT_DB_ALIAS, connections

Values = Sequence[Any] | Mapping[str, Any]
Row = tuple[Any, ...]

# Another try may succeed: another transaction came first (serialisation failure, deadlock), or deleted a row that this
# one refers to (foreign key).
RETRYABLE_SQLSTATES = frozenset({"40001", "40P01", "23503"})
# What time may settle, beside the errors that psycopg itself calls operational: a standby that only reads, a
# transaction that was idle for too long.
TRANSIENT_SQLSTATES = frozenset({"25006", "25P03"})


def sqlstate(failure: BaseException | None) -> str | None:
    """PostgreSQL's own code behind one of Django's database errors; None where it never got there."""
    return getattr(getattr(failure, "__cause__", None), "sqlstate", None)


def fetch_one(statement: str, values: Values = ()) -> Row | None:
    """The first row, None where there is none."""
    row: Row | None = _run(statement, values).fetchone()
    return row


def database_now() -> datetime:
    """The time by PostgreSQL's clock, which decides what is too old: the clocks of the hosts may differ."""
    ((now,),) = fetch_all("SELECT clock_timestamp()")
    return cast(datetime, now)


def fetch_all(statement: str, values: Values = ()) -> list[Row]:
    return list(_run(statement, values).fetchall())


def execute(statement: str, values: Values = ()) -> int:
    """The number of rows it changed."""
    return int(_run(statement, values).rowcount)


def is_in_transaction() -> bool:
    return bool(_here.database.in_atomic_block)


def renew_connection() -> None:
    """Close this thread's connection, and with it every prepared statement; the next statement opens another."""
    _here.database.close()


class _Here(local):
    """This thread's own connection: Django finds the same one, but looks for it each time."""

    def __init__(self) -> None:
        self.database: Any = connections[DEFAULT_DB_ALIAS]


_here = _Here()


def _run(statement: str, values: Values) -> Any:
    return _here.database.run(statement, values)
