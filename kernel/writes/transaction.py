"""The transaction of a write: an opening statement, the service, and one last statement.

`api_open_unit` (a function in the database, see the migrations) takes all locks and then reads committed rows: the
stored response of the Idempotency-Key, and the events of the hourly limits. It is a function because one statement
would read a snapshot from before its locks, and two statements would take two round trips. The last statement combines
the charge to the limits, the stored response and the statements that the service has deferred.

Runs a transaction again that PostgreSQL has aborted, if another try may succeed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from django.conf import settings
from django.db import DatabaseError, transaction
from django.http import HttpResponse

from kernel.api.exceptions import IdempotencyInProgress
from kernel.database.backend.base import STALE_STATEMENT_SQLSTATES
from kernel.database.sql import (
    RETRYABLE_SQLSTATES,
    Row,
    execute,
    fetch_all,
    is_in_transaction,
    renew_connection,
    sqlstate,
)
from kernel.writes import idempotency, rate_limits
from kernel.writes.idempotency import IdempotentRequest, Replay
from kernel.writes.rate_limits import RateLimitCharge

P = ParamSpec("P")
R = TypeVar("R")

# The longest pause before each further try, in seconds. The conflicting transaction needs time to lock the rows that it
# waits for; pauses are random, so that several aborted transactions do not conflict again.
PAUSES = (0.05, 0.2, 0.8)
RANDOM = random.SystemRandom()


def retried(transaction: Callable[P, R]) -> Callable[P, R]:
    """Decorator of a function that is one transaction: up to three further tries, started within STATEMENT_TIMEOUT.

    Inside another transaction the function runs once, because only the outermost one can be run again.
    """

    @wraps(transaction)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if is_in_transaction():
            return transaction(*args, **kwargs)
        began = time.monotonic()
        for longest in PAUSES:
            try:
                return transaction(*args, **kwargs)
            except DatabaseError as failure:
                if not _can_retry(failure, began, RANDOM.uniform(longest / 2, longest)):
                    raise
        return transaction(*args, **kwargs)

    return run


def _can_retry(failure: DatabaseError, began: float, pause: float) -> bool:
    """Pause or open a new connection, and return True; return False if the error is final or time is up."""
    if sqlstate(failure) in STALE_STATEMENT_SQLSTATES and _has_time(began, 0):
        renew_connection()
        return True
    if sqlstate(failure) not in RETRYABLE_SQLSTATES or not _has_time(began, pause):
        return False
    time.sleep(pause)
    return True


def _has_time(began: float, pause: float) -> bool:
    """STATEMENT_TIMEOUT is in milliseconds; 0 is no limit."""
    return not settings.STATEMENT_TIMEOUT or time.monotonic() + pause < began + settings.STATEMENT_TIMEOUT / 1000


OPENED = (*idempotency.COLUMNS, *rate_limits.COLUMNS)
# Columns are selected by name, because another release may add columns to the function.
COLUMNS = ", ".join(f"opened.{name}" for name in OPENED)
OPEN_FUNCTION = """
FROM api_open_unit(
    %(key_lock)s, %(row)s, %(previous_row)s, %(account)s::uuid, %(counters)s::text[], %(places)s::int[], true
) opened
"""
OPEN = f"SELECT {COLUMNS} {OPEN_FUNCTION}"
NO_KEY = {"key_lock": None, "row": None, "previous_row": None}


@dataclass(frozen=True, slots=True)
class Prefetch:
    """A query of exactly one row, which can be combined with the opening statement."""

    statement: str
    values: dict[str, Any]

    def fetch(self) -> Row:
        (row,) = fetch_all(self.statement, self.values)
        return row


class WriteTransaction:
    """The open transaction of a write. Without limits nothing is charged, without a key no response is stored.

    `prefetch` runs with the opening statement, and may see the state before the locks were granted. `is_dry_run`: it is
    rolled back at the end.
    """

    def __init__(
        self,
        charge: RateLimitCharge,
        idempotent: IdempotentRequest | None,
        prefetch: Prefetch | None,
        *,
        is_dry_run: bool = False,
    ) -> None:
        self.charge = charge
        self.is_dry_run = is_dry_run
        self._idempotent = idempotent
        self._prefetch = prefetch
        self._prefetched: Row | None = None
        self._deferred: list[str] = []
        self._values: dict[str, Any] = {}

    def open(self) -> Replay | None:
        """Take the locks, load the state of the limits, and return the stored response, if any.

        Raises IdempotencyInProgress (409) if another request has locked the key.
        """
        if self._idempotent is None and not self.charge.limits:
            return None
        values = self.charge.values | (NO_KEY if self._idempotent is None else self._idempotent.values)
        rows = fetch_all(OPEN, values) if self._prefetch is None else self._open_with(self._prefetch, values)
        if not rows:
            raise IdempotencyInProgress
        self.charge.load(row[idempotency.WIDTH : len(OPENED)] for row in rows if self.charge.limits)
        stored = rows[0][: idempotency.WIDTH]
        return None if self._idempotent is None or stored[0] is None else self._idempotent.replay_of(stored)

    def fetch(self, prefetch: Prefetch) -> Row:
        """Return the prefetched row, or run the query."""
        is_known = self._prefetched is not None and prefetch == self._prefetch
        return self._prefetched if is_known and self._prefetched is not None else prefetch.fetch()

    def consume(self) -> None:
        """Charge the write to every limit; raises AgentRateLimited (429) if one is exhausted."""
        self.charge.require_remaining()
        if self.charge.limits:
            self.defer_statement(rate_limits.RECORD, self.charge.values)

    def store_response(self, response: HttpResponse) -> None:
        """Store the response for replays, if the request has a key."""
        if self._idempotent is not None:
            self.defer_statement(idempotency.STORE, self._idempotent.to_row(response))

    def defer_statement(self, statement: str, values: dict[str, Any]) -> None:
        """Run a statement at the end, combined with the other deferred ones.

        The names of their values must differ, and no two of them may write to the same table.
        """
        self._deferred.append(statement)
        self._values = _merge(self._values, values)

    def close(self) -> None:
        """Run the deferred statements."""
        if self._deferred:
            execute(combine_statements(*self._deferred), self._values)

    def _open_with(self, prefetch: Prefetch, values: dict[str, Any]) -> list[Row]:
        rows = fetch_all(open_statement(prefetch.statement), _merge(values, prefetch.values))
        self._prefetched = rows[0][len(OPENED) :] if rows else None
        return rows


@contextmanager
def write_transaction(
    *,
    charge: RateLimitCharge | None = None,
    idempotent: IdempotentRequest | None = None,
    prefetch: Prefetch | None = None,
    is_dry_run: bool = False,
) -> Iterator[WriteTransaction]:
    """Open a WriteTransaction; an exception rolls it back.

    After a database error that was caught inside it, `close` raises TransactionManagementError: nothing is committed.
    """
    with transaction.atomic():
        write = WriteTransaction(charge or RateLimitCharge(), idempotent, prefetch, is_dry_run=is_dry_run)
        yield write
        write.close()


@cache
def open_statement(prefetch: str) -> str:
    """The opening statement combined with a prefetch."""
    return f"SELECT {COLUMNS}, asked.* {OPEN_FUNCTION} CROSS JOIN ({prefetch}) asked"


@cache
def combine_statements(*statements: str) -> str:
    """Combine statements with CTEs."""
    *others, last = statements
    parts = ", ".join(f"part_{number} AS ({statement})" for number, statement in enumerate(others))
    return f"WITH {parts} {last}" if parts else last


def _merge(values: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    if not values.keys().isdisjoint(others):
        raise ValueError(f"Named twice: {values.keys() & others.keys()}")
    return values | others
