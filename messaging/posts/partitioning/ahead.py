"""Makes the partitions of the next months, before posts come that belong there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from kernel.database.brief_locks import change_briefly
from kernel.database.sql import database_now, execute, fetch_one
from messaging.posts.partitioning import swapping, tables
from messaging.posts.partitioning.bounds import first_id, month_after, months_between, time_of
from messaging.posts.partitioning.tables import BOUND_CHECK, REST, TABLE, Partition

# A partition exists this long before its first post.
AHEAD = timedelta(days=90)
FAR = timedelta(days=3650)
# An unfinished conversion is taken back this long before its bound would refuse posts.
BOUND_MARGIN = timedelta(days=14)
# Autovacuum analyzes partitions, and never the table.
ANALYZE_EVERY = timedelta(days=1)
ANALYZED = "SELECT last_analyze FROM pg_stat_all_tables WHERE relid = to_regclass(%s)"


def make_partitions(*, say: Callable[[str], None]) -> None:
    """Does nothing but take back a late conversion if the table is not partitioned. Safe to run concurrently."""
    now = database_now()
    if not tables.is_partitioned():
        _forget_old_bound(now, say)
        return
    for partition in missing(tables.partitions(), now=now, rest_until=_rest_until(now)):
        change_briefly(lambda made=partition: _make(made), say=say)  # type: ignore[misc]
        say(f"Made {partition.name}, for posts from {partition.start:%Y-%m-%d} to {partition.end:%Y-%m-%d}.")
    row = fetch_one(ANALYZED, [TABLE])
    if row is None or row[0] is None or now - row[0] > ANALYZE_EVERY:
        execute(f"ANALYZE ONLY {TABLE}")


def missing(existing: Sequence[Partition], *, now: datetime, rest_until: datetime | None) -> list[Partition]:
    """As wide as the newest partition, from its end until AHEAD.

    `rest_until`: the time of the greatest id in REST, whose months stay there.
    """
    newest, found = existing[-1], []
    start, months = newest.end, months_between(newest.start, newest.end) if newest.start else 1
    if rest_until is not None and rest_until >= start:
        start = month_after(rest_until, 1)
    while start < now + AHEAD:
        found.append(next_partition(start, months))
        start = found[-1].end
    return found


def next_partition(start: datetime, months: int) -> Partition:
    return Partition(f"{TABLE}_{start:%Y_%m}", start, month_after(start, months))


def _make(partition: Partition) -> None:
    if partition.end not in {existing.end for existing in tables.partitions()}:
        execute(swapping.create(partition))


def _rest_until(now: datetime) -> datetime | None:
    """Ids of a far future are those of imported posts from before 1970, and in the way of no partition."""
    row = fetch_one(
        f"SELECT id FROM {REST} WHERE id < %s ORDER BY id DESC LIMIT 1",  # noqa: S608  constant
        [first_id(now + FAR)],
    )
    return time_of(row[0]) if row else None


def _forget_old_bound(now: datetime, say: Callable[[str], None]) -> None:
    check = tables.bound_check()
    if check is not None and check.end - now < BOUND_MARGIN:
        change_briefly(_drop_bound, say=say)
        say("An unfinished conversion was taken back: run partition_messages again.")


def _drop_bound() -> None:
    execute(f"ALTER TABLE {TABLE} DROP CONSTRAINT IF EXISTS {BOUND_CHECK}")
