"""The log against its promise, with real transactions: writers that overlap and abort, and readers that follow.

`make changes` runs it with 20,000 rows.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

import pytest
from django.db import connections, transaction

from config.changes import cursors, reading
from config.changes.channels import Channel
from config.changes.log import NewChange, append
from config.changes.models import Change
from config.changes.rows import ChangeRow
from messaging.changes.types import ChangeType, InboxType

pytestmark = pytest.mark.django_db(transaction=True)
Result = TypeVar("Result")
ROWS = int(os.environ.get("CHANGES_ROWS", "2000"))
WRITERS = 8
PAGES = ["p0", "p1", "p2"]
ACCOUNTS = [UUID(int=number) for number in (1, 2)]
# Channel and limit of each reader.
READERS = [
    (Channel(), 7),
    (Channel(page_id="p1"), 100),
    (Channel(types=frozenset({ChangeType.REACTION_ADDED})), 1),
    (Channel(account_id=ACCOUNTS[0]), 3),
]


@dataclass(frozen=True)
class Progress:
    """`committed`: the numbers of the rows of all committed transactions, written before `finished` is set."""

    committed: set[int]
    finished: threading.Event


def test_every_reader_gets_every_committed_row_once_in_one_order() -> None:
    progress = Progress(set(), threading.Event())
    with ThreadPoolExecutor(WRITERS + len(READERS)) as pool:
        followed = [pool.submit(in_thread, follow, progress, *reader) for reader in READERS]
        written = [pool.submit(in_thread, write, progress, number) for number in range(WRITERS)]
        for writer in written:
            writer.result()
        progress.finished.set()
        seen = [reader.result() for reader in followed]
    log = list(whole_log())
    assert {row.data["n"] for row in log if row.data} == progress.committed
    assert len(log) == len(progress.committed) > ROWS * 0.9
    for (channel, _limit), rows in zip(READERS, seen, strict=True):
        assert [row.position for row in rows] == [row.position for row in log if matches(channel, row)]


def in_thread(call: Callable[..., Result], *arguments: object) -> Result:
    try:
        return call(*arguments)
    finally:
        connections.close_all()


def write(progress: Progress, writer: int) -> None:
    """Transactions of a few rows each, which are held open before, between and after their rows; some abort."""
    chance, left = random.Random(writer), ROWS // WRITERS
    while left > 0:
        count = min(left, chance.randint(1, 6))
        numbers = [writer * ROWS + left - each for each in range(count)]
        if transact(chance, numbers):
            progress.committed.update(numbers)
        left -= count


def transact(chance: random.Random, numbers: list[int]) -> bool:
    """Whether the transaction committed."""
    is_aborted = chance.random() < 0.1
    with transaction.atomic():
        hold(chance)
        if chance.random() < 0.3:
            savepoint_that_is_rolled_back(chance)
        for number in numbers:
            append([new_change(chance, number)])
            hold(chance)
        transaction.set_rollback(is_aborted)
    return not is_aborted


def savepoint_that_is_rolled_back(chance: random.Random) -> None:
    """It assigns the id of the transaction, long before the rows that count."""
    point = transaction.savepoint()
    append([new_change(chance, -1)])
    transaction.savepoint_rollback(point)
    hold(chance)


def hold(chance: random.Random) -> None:
    if chance.random() < 0.2:
        time.sleep(chance.random() * 0.02)


def new_change(chance: random.Random, number: int) -> NewChange:
    is_event = chance.random() < 0.3
    return NewChange(
        type=chance.choice(list(InboxType if is_event else ChangeType)),
        page_id=chance.choice(PAGES),
        account_id=chance.choice(ACCOUNTS) if is_event else None,
        data={"n": number},
    )


def follow(progress: Progress, channel: Channel, limit: int) -> list[ChangeRow]:
    """Read from the beginning until the writers have finished and nothing follows; cursors go over the wire as text."""
    cursor, rows = None, []
    while True:
        was_finished = progress.finished.is_set()
        batch = reading.read(channel, cursor, limit=limit)
        rows += batch.rows
        cursor = cursors.decode(cursors.encode(batch.next, bound_to="x"), bound_to="x")
        if not batch.has_more:
            if was_finished:
                return rows
            time.sleep(0.001)


def whole_log() -> Iterator[ChangeRow]:
    """By an independent query."""
    for row in Change.objects.order_by("xid", "id").values_list(*reading.COLUMNS):
        yield ChangeRow._make(row)


def matches(channel: Channel, row: ChangeRow) -> bool:
    """As the documents say it."""
    return (
        (row.account_id == channel.account_id)
        and channel.page_id in (None, row.page_id)
        and (not channel.types or row.type in channel.types)
    )
