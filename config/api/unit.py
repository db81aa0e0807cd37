"""The unit of work of a write: locks and a look, the write, and one last statement, in one transaction.

`api_open_unit` (a function in the database, see the migrations) takes every lock, and then looks what is committed by
then: the answer kept under the Idempotency-Key, and what is spent of the hourly limits. It is a function, since one
statement would look at the snapshot it took before it got its locks, and two would travel twice. The last statement
writes what the kernel adds to a write, which may go along with it: what it spends of the limits, and its answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import transaction
from django.http import HttpResponse

from config.api import idempotency, limits
from config.api.errors import IdempotencyInProgress
from config.api.idempotency import KeyedWrite, Replay
from config.api.limits import Budget
from config.api.sql import Row, execute, fetch_all

OPENED = (*idempotency.COLUMNS, *limits.COLUMNS)
# Columns are named, and read by position: another release may add some of its own to the function.
COLUMNS = ", ".join(f"opened.{name}" for name in OPENED)
OPEN_UNIT = """
FROM api_open_unit(
    %(key_lock)s, %(row)s, %(previous_row)s, %(account)s::uuid, %(counters)s::text[], %(places)s::int[], true
) opened
"""
OPEN = f"SELECT {COLUMNS} {OPEN_UNIT}"
NO_KEY = {"key_lock": None, "row": None, "previous_row": None}


@dataclass(frozen=True, slots=True)
class Question:
    """A statement with exactly one row for an answer, which may be asked along with another one."""

    statement: str
    values: dict[str, Any]

    def ask(self) -> Row:
        (row,) = fetch_all(self.statement, self.values)
        return row


class Unit:
    """One write at work. Without a budget it spends nothing, without a key it keeps no answer.

    `question` is asked as it opens, and may be answered as things stood before the locks were waited for.
    """

    def __init__(self, budget: Budget, keyed: KeyedWrite | None, question: Question | None) -> None:
        self.budget = budget
        self._keyed = keyed
        self._question = question
        self._answer: Row | None = None
        self._statements: list[str] = []
        self._values: dict[str, Any] = {}

    def open(self) -> Replay | None:
        """Lock and look. The answer to replay, if one is kept; tells the budget how it stands.

        Raises IdempotencyInProgress (409) while another call holds the key.
        """
        if self._keyed is None and not self.budget.counters:
            return None
        values = self.budget.values | (NO_KEY if self._keyed is None else self._keyed.values)
        rows = fetch_all(OPEN, values) if self._question is None else self._ask_along(self._question, values)
        if not rows:
            raise IdempotencyInProgress
        self.budget.tell(row[idempotency.WIDTH : len(OPENED)] for row in rows if self.budget.counters)
        kept = rows[0][: idempotency.WIDTH]
        return None if self._keyed is None or kept[0] is None else self._keyed.replay_of(kept)

    def ask(self, question: Question) -> Row:
        """The answer to a question, which may have been asked already."""
        return self._answer if self._answer is not None and question == self._question else question.ask()

    def spend(self) -> None:
        """Spend one of every counter; raises AgentRateLimited (429) where one has no place left."""
        self.budget.require_places()
        if self.budget.counters:
            self.leave(limits.ENTRIES, self.budget.values)

    def keep(self, answer: HttpResponse) -> None:
        """Keep the answer for repeats of a keyed call."""
        if self._keyed is not None:
            self.leave(idempotency.STORE, self._keyed.kept_as(answer))

    def leave(self, statement: str, values: dict[str, Any]) -> None:
        """Have a statement run with the others that are left, at the end, where nothing is to be known of it before.

        All that are left share the names of their values, and no two write to the same table.
        """
        self._statements.append(statement)
        self._values = _united(self._values, values)

    def close(self) -> None:
        """Run what was left."""
        if self._statements:
            execute(together(*self._statements), self._values)

    def _ask_along(self, question: Question, values: dict[str, Any]) -> list[Row]:
        rows = fetch_all(opening(question.statement), _united(values, question.values))
        self._answer = rows[0][len(OPENED) :] if rows else None
        return rows


@contextmanager
def unit_of_work(
    *, budget: Budget | None = None, keyed: KeyedWrite | None = None, question: Question | None = None
) -> Iterator[Unit]:
    """The only way to a Unit: one transaction, closed at the end; whatever is raised inside rolls all of it back."""
    with transaction.atomic():
        unit = Unit(budget or Budget(), keyed, question)
        yield unit
        unit.close()


@cache
def opening(question: str) -> str:
    """The statement that opens a unit of work and asks something along with it."""
    return f"SELECT {COLUMNS}, asked.* {OPEN_UNIT} CROSS JOIN ({question}) asked"


@cache
def together(*statements: str) -> str:
    """Several statements as one."""
    *beside, last = statements
    parts = ", ".join(f"part_{number} AS ({statement})" for number, statement in enumerate(beside))
    return f"WITH {parts} {last}" if parts else last


def _united(values: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    if not values.keys().isdisjoint(others):
        raise ValueError(f"Named twice: {values.keys() & others.keys()}")
    return values | others
