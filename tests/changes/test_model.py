"""The log against its promise, with real transactions: writers that overlap and abort, and readers that follow.

Hypothesis draws what each writer does; the threads decide how the writers overlap. `make changes` runs it until 20,000
rows are written.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar
from uuid import UUID

import pytest
from django.db import connections, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernel.changes import reading
from kernel.changes import reading as cursors
from kernel.changes.channels import Channel
from kernel.changes.log import NewChange, append
from kernel.changes.models import Change
from kernel.changes.rows import ChangeRow, Cursor
from messaging.changes.types import ChangeType, InboxType

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
Result = TypeVar("Result")
ROWS = int(os.environ.get("CHANGES_ROWS", "300"))
WRITERS = 8
# At a time: Hypothesis draws simple schedules first, and others after them.
EXAMPLES = 20 if ROWS > 1_000 else 5
PAGES = ["p0", "p1", "p2"]
ACCOUNTS = [UUID(int=number) for number in (1, 2)]
# Channel and limit of each reader.
READERS = [
    (Channel(), 7),
    (Channel(page_id="p1"), 100),
    (Channel(types=frozenset({ChangeType.REACTION_ADDED})), 1),
    (Channel(account_id=ACCOUNTS[0]), 3),
]


class Pause(NamedTuple):
    """The transaction stays open."""

    milliseconds: int


class RolledBack(NamedTuple):
    """A row in a savepoint that is rolled back: the transaction has its id long before the rows that count."""


class Transaction(NamedTuple):
    steps: Sequence[Pause | RolledBack | NewChange]
    is_aborted: bool


ROW = st.one_of(
    st.builds(NewChange, type=st.sampled_from(ChangeType), page_id=st.sampled_from(PAGES)),
    st.builds(NewChange, type=st.sampled_from(InboxType), account_id=st.sampled_from(ACCOUNTS)),
)
STEP = st.one_of(ROW, ROW, st.builds(Pause, st.integers(0, 10)), st.builds(RolledBack))
TRANSACTION = st.builds(
    Transaction,
    steps=st.lists(STEP, min_size=1, max_size=5),
    is_aborted=st.sampled_from([False, False, False, False, True]),
)
SCHEDULE = st.lists(st.lists(TRANSACTION, min_size=2, max_size=4), min_size=WRITERS, max_size=WRITERS)


@dataclass(frozen=True)
class Progress:
    """`committed`: the numbers of the rows of all committed transactions, written before `finished` is set."""

    start: Cursor
    committed: set[tuple[int, int, int]] = field(default_factory=set)
    finished: threading.Event = field(default_factory=threading.Event)


def test_every_reader_gets_every_committed_row_once_in_one_order() -> None:
    while Change.objects.count() < ROWS:
        follow_a_schedule()


@settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(schedule=SCHEDULE)
def follow_a_schedule(schedule: list[list[Transaction]]) -> None:
    progress = Progress(reading.now())
    with ThreadPoolExecutor(WRITERS + len(READERS)) as pool:
        followed = [pool.submit(in_thread, follow, progress, *reader) for reader in READERS]
        written = [pool.submit(in_thread, write, progress, *each) for each in enumerate(schedule)]
        try:
            for writer in written:
                writer.result()
        finally:
            progress.finished.set()
        seen = [reader.result() for reader in followed]
    log = list(log_after(progress.start))
    assert sorted(tuple(row.data["n"]) for row in log if row.data) == sorted(progress.committed)
    assert len(log) == len(progress.committed)
    for (channel, _limit), rows in zip(READERS, seen, strict=True):
        assert [row.position for row in rows] == [row.position for row in log if matches(channel, row)]


def in_thread(call: Callable[..., Result], *arguments: object) -> Result:
    try:
        return call(*arguments)
    finally:
        connections.close_all()


def write(progress: Progress, writer: int, transactions: Sequence[Transaction]) -> None:
    for number, each in enumerate(transactions):
        written = transact(each, (writer, number))
        if not each.is_aborted:
            progress.committed.update(written)


@transaction.atomic
def transact(each: Transaction, number: tuple[int, int]) -> list[tuple[int, int, int]]:
    """Returns the numbers of the rows."""
    written = []
    for index, step in enumerate(each.steps):
        if isinstance(step, Pause):
            time.sleep(step.milliseconds / 1_000)
        elif isinstance(step, RolledBack):
            roll_back_a_row()
        else:
            append([replace(step, data={"n": [*number, index]})])
            written.append((*number, index))
    transaction.set_rollback(each.is_aborted)
    return written


def roll_back_a_row() -> None:
    point = transaction.savepoint()
    append([NewChange(type=ChangeType.MESSAGE_CREATED, page_id=PAGES[0])])
    transaction.savepoint_rollback(point)


def follow(progress: Progress, channel: Channel, limit: int) -> list[ChangeRow]:
    """Read until the writers have finished and nothing follows; cursors go over the wire as text."""
    cursor, rows = progress.start, []
    while True:
        was_finished = progress.finished.is_set()
        batch = reading.read(channel, cursor, limit=limit)
        rows += batch.rows
        cursor = cursors.decode(cursors.encode(batch.next, bound_to="x"), bound_to="x")
        if not batch.has_more:
            if was_finished:
                return rows
            time.sleep(0.001)


def log_after(start: Cursor) -> Iterator[ChangeRow]:
    """By an independent query. All transactions of before have ended."""
    changes = Change.objects.filter(xid__gt=start.position.xid).order_by("xid", "id")
    for row in changes.values_list(*reading.COLUMNS):
        yield ChangeRow._make(row)


def matches(channel: Channel, row: ChangeRow) -> bool:
    """As the documents say it."""
    return (
        (row.account_id == channel.account_id)
        and channel.page_id in (None, row.page_id)
        and (not channel.types or row.type in channel.types)
    )
