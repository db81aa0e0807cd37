"""The transaction of a write: locks and look-ups, the write itself, and one last statement.

`api_open_unit` (a function in the database, see the migrations) takes every lock and then reads what is committed: the
response stored under the Idempotency-Key, and the usage of the hourly limits. It is a function because one statement
would read the snapshot it took before it got its locks, and two would take two round trips. The last statement combines
the charge to the limits, the stored response and what the service deferred.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import transaction
from django.http import HttpResponse

from config.api.exceptions import IdempotencyInProgress
from config.database.sql import Row, execute, fetch_all
from config.writes import idempotency, rate_limits
from config.writes.idempotency import IdempotentRequest, Replay
from config.writes.rate_limits import RateLimitCharge

OPENED = (*idempotency.COLUMNS, *rate_limits.COLUMNS)
# Columns are named and read by position: another release may add its own to the function.
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
    """A query of exactly one row, which can run together with the opening statement."""

    statement: str
    values: dict[str, Any]

    def fetch(self) -> Row:
        (row,) = fetch_all(self.statement, self.values)
        return row


class WriteTransaction:
    """One write in progress. Without limits it charges nothing, without a key it stores no response.

    `prefetch` runs with the opening statement, and may see the state before the locks were granted.
    """

    def __init__(
        self, charge: RateLimitCharge, idempotent: IdempotentRequest | None, prefetch: Prefetch | None
    ) -> None:
        self.charge = charge
        self._idempotent = idempotent
        self._prefetch = prefetch
        self._prefetched: Row | None = None
        self._deferred: list[str] = []
        self._values: dict[str, Any] = {}

    def open(self) -> Replay | None:
        """Lock, load the limits' state, and return the response to replay, if one is stored.

        Raises IdempotencyInProgress (409) while another request holds the key.
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
        """The row of a query, which may have been prefetched."""
        is_known = self._prefetched is not None and prefetch == self._prefetch
        return self._prefetched if is_known and self._prefetched is not None else prefetch.fetch()

    def consume(self) -> None:
        """Charge one call to every limit; raises AgentRateLimited (429) where one is exhausted."""
        self.charge.require_remaining()
        if self.charge.limits:
            self.defer_statement(rate_limits.RECORD, self.charge.values)

    def store_response(self, response: HttpResponse) -> None:
        """Store the response for repeats of a request with a key."""
        if self._idempotent is not None:
            self.defer_statement(idempotency.STORE, self._idempotent.to_row(response))

    def defer_statement(self, statement: str, values: dict[str, Any]) -> None:
        """Run a statement together with the other deferred ones, at the end.

        They share the names of their values, and no two of them write to the same table.
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
) -> Iterator[WriteTransaction]:
    """The only way to a WriteTransaction. An exception, or Django's `set_rollback`, rolls back all of it."""
    with transaction.atomic():
        write = WriteTransaction(charge or RateLimitCharge(), idempotent, prefetch)
        yield write
        if not transaction.get_rollback():
            write.close()


@cache
def open_statement(prefetch: str) -> str:
    """The opening statement combined with a prefetch."""
    return f"SELECT {COLUMNS}, asked.* {OPEN_FUNCTION} CROSS JOIN ({prefetch}) asked"


@cache
def combine_statements(*statements: str) -> str:
    """Several statements as one."""
    *beside, last = statements
    parts = ", ".join(f"part_{number} AS ({statement})" for number, statement in enumerate(beside))
    return f"WITH {parts} {last}" if parts else last


def _merge(values: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    if not values.keys().isdisjoint(others):
        raise ValueError(f"Named twice: {values.keys() & others.keys()}")
    return values | others
