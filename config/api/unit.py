"""The unit of work of a write: locks, a look, and one last statement, in one transaction.

The first statement takes every lock. The second sees what was committed before: the answer kept under the
Idempotency-Key, and what is spent of the hourly limits. (One statement would look at the snapshot it took before it
got its locks.) The last one writes what the kernel adds to a write, which may go along with it: what it spends of the
limits, and its answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.db import transaction
from django.http import HttpResponse

from config.api import idempotency, limits
from config.api.errors import IdempotencyInProgress
from config.api.idempotency import KeyedWrite, Replay
from config.api.limits import Budget
from config.api.sql import execute, fetch_all, fetch_one

# Whoever finds the key held is told so at once, and waits for no other lock.
LOCK = f"""
SELECT CASE WHEN %(key_lock)s::bigint IS NULL OR pg_try_advisory_xact_lock(%(key_lock)s) THEN ({limits.LOCK}) END
"""
LOOK = f"""
SELECT kept.*, tally.* FROM (VALUES (%(caller)s::uuid)) account (id)
LEFT JOIN LATERAL ({idempotency.OF_ACCOUNT}) kept ON true LEFT JOIN ({limits.TALLY}) tally ON true
"""  # noqa: S608  made of constants
NO_KEY = {"caller": None, "key_lock": None} | idempotency.look_up(None)
KEPT_COLUMNS = len(idempotency.COLUMNS)


class Unit:
    """One write at work, inside a transaction that holds its locks to the end.

    Without a budget it spends nothing, without a key it keeps no answer.
    """

    def __init__(self, *, budget: Budget | None = None, keyed: KeyedWrite | None = None) -> None:
        self.budget = budget or Budget()
        self._keyed = keyed
        self._statements: list[str] = []
        self._values: dict[str, Any] = {}

    def open(self) -> Replay | None:
        """The answer to replay, if one is kept; tells the budget how it stands.

        Raises IdempotencyInProgress (409) while another call holds the key.
        """
        if self._keyed is None and not self.budget.counters:
            return None
        values = self.budget.values | (NO_KEY if self._keyed is None else self._keyed.values)
        if fetch_one(LOCK, values) == (None,):
            raise IdempotencyInProgress
        rows = fetch_all(LOOK, values)
        self.budget.tell(row[KEPT_COLUMNS:] for row in rows if self.budget.counters)
        kept = rows[0][:KEPT_COLUMNS]
        return None if self._keyed is None or kept[0] is None else self._keyed.replay_of(kept)

    def spend(self) -> None:
        """Spend one of every counter; raises AgentRateLimited (429) where one has no place left."""
        self.budget.require_places()
        if self.budget.counters:
            self.leave(limits.ENTRIES, self.budget.values)

    def leave(self, statement: str, values: dict[str, Any]) -> None:
        """Have a statement run with the last one, of which nothing is to be known before."""
        self._statements.append(statement)
        self._values |= values

    def close(self, answer: HttpResponse | None = None) -> None:
        """Write what was left, and keep the answer for repeats of a keyed call."""
        if self._keyed is not None and answer is not None:
            self.leave(idempotency.STORE, self._keyed.kept_as(answer))
        if self._statements:
            execute(_together(*self._statements), self._values)


@contextmanager
def unit_of_work() -> Iterator[Unit]:
    """For writes that spend nothing and keep no answer: those of commands."""
    with transaction.atomic():
        unit = Unit()
        yield unit
        unit.close()


@cache
def _together(*statements: str) -> str:
    """Statements that write to different tables, as one."""
    *beside, last = statements
    parts = ", ".join(f"part_{number} AS ({statement})" for number, statement in enumerate(beside))
    return f"WITH {parts} {last}" if parts else last
