"""Converts the table of posts into partitions by time while the service runs, and back. Each step may be repeated."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from django.db import transaction

from kernel.database.locks import change_briefly
from kernel.database.sql import allow_long_statements, database_now, execute, fetch_one
from messaging.posts.partitioning import swapping, tables
from messaging.posts.partitioning import swapping as structure
from messaging.posts.partitioning.swapping import AHEAD, next_partition
from messaging.posts.partitioning.tables import BOUND_CHECK, FIRST, TABLE, Partition, first_id, month_after

Say = Callable[[str], None]
LONG_SECONDS = 24 * 3600
# A validation has a transaction id from its beginning, for which readers wait (`kernel.changes.reading`).
MEANWHILE = "reads and writes go on, and new changes reach streams, inboxes, webhooks and mails when it has ended"
# The first partition ends with the month after the next one, so that the conversion has a month to be completed.
MONTHS_LEFT = 3
POSTGRESQL_MIN = 180_000


class CannotConvert(Exception):
    """The text says why, and what to do."""


def convert(*, months: int, say: Say) -> None:
    """Partitions of `months` from the month after the next one. Raises CannotConvert."""
    if not tables.is_partitioned():
        _require_no_obstacle()
        first = _bounded(say)
        change_briefly(lambda: _swap(first, months, say), say=say)
    _validate_references(say)
    execute(f"ANALYZE {TABLE}")
    say("Done.")


def undo(*, say: Say) -> None:
    """One table again, as long as all posts are in the first partition. Raises CannotConvert."""
    if tables.is_partitioned():
        change_briefly(_swap_back, say=say)
        say("The posts are in one table again.")
    elif tables.bound_check():
        change_briefly(lambda: _run([f"ALTER TABLE {TABLE} DROP CONSTRAINT {BOUND_CHECK}"]), say=say)
    _validate_references(say)
    say("Done.")


def steps(*, months: int) -> list[str]:
    """What `convert` would do now."""
    invalid = [reference for reference in structure.references() if not reference.is_valid]
    if tables.is_partitioned():
        return [f"Validate the foreign key {key.name} of {key.table}; {MEANWHILE}." for key in invalid]
    _require_no_obstacle()
    check, known = tables.bound_check(), structure.structure()
    first = _first(check)
    return [
        *([f"Add a check that ids are before {first.end:%Y-%m-%d}."] if check is None else []),
        *([f"Read all posts to validate it; {MEANWHILE}."] if check is None or not check.is_valid else []),
        "In one transaction: " + "; ".join(_statements(known, first, months)) + ".",
        f"Validate {len(known.to_posts)} foreign keys, one after the other; {MEANWHILE}.",
    ]


def _first(check: tables.BoundCheck | None) -> Partition:
    return Partition(FIRST, None, check.end if check else month_after(database_now(), MONTHS_LEFT))


def _bounded(say: Say) -> Partition:
    """The first partition, whose bound is proven."""
    check = tables.bound_check()
    first = _first(check)
    greatest, bound = structure.greatest_id(), first_id(first.end)
    if greatest is not None and greatest >= bound:
        raise CannotConvert(
            f"The post {greatest} has an id after the bound: of a wrong clock, or of a time before 1970."
        )
    if check is None:
        say(f"Adding a check that ids are before {first.end:%Y-%m-%d} …")
        change_briefly(
            lambda: _run([f"ALTER TABLE {TABLE} ADD CONSTRAINT {BOUND_CHECK} CHECK (id < '{bound}') NOT VALID"]),
            say=say,
        )
    if check is None or not check.is_valid:
        say(f"Reading all posts to validate it; {MEANWHILE} …")
        _run_long(f"ALTER TABLE {TABLE} VALIDATE CONSTRAINT {BOUND_CHECK}")
    return first


def _swap(first: Partition, months: int, say: Say) -> None:
    started, known = time.monotonic(), structure.structure()
    _run(swapping.lock(known))
    _run(_statements(known, first, months))
    say(f"Swapped the tables in {(time.monotonic() - started) * 1000:.0f} ms.")


def _statements(known: structure.Structure, first: Partition, months: int) -> list[str]:
    made = [first]
    while made[-1].end < database_now() + AHEAD or len(made) == 1:
        made.append(next_partition(made[-1].end, months))
    return list(swapping.to_partitions(known, made))


def _swap_back() -> None:
    known, names = structure.structure(), structure.names_of_indexes(FIRST)
    others = [name for name in tables.all_partitions() if name != FIRST]
    _run(swapping.lock(known, [FIRST, *others]))
    for name in others:
        if fetch_one(f"SELECT FROM {name} LIMIT 1") is not None:
            raise CannotConvert(f"{name} has posts. It is too late for this: partitions work as one table does.")
    _run(swapping.to_one_table(known, names))


def _validate_references(say: Say) -> None:
    for reference in structure.references():
        if not reference.is_valid:
            say(f"Validating {reference.name} of {reference.table}; {MEANWHILE} …")
            _run_long(reference.validate())


def _require_no_obstacle() -> None:
    if structure.server_version() < POSTGRESQL_MIN:
        raise CannotConvert("PostgreSQL 18 or newer is needed: upgrade it first.")
    if found := structure.obstacles():
        raise CannotConvert(f"Remove first, and create it again afterwards: {', '.join(found)}.")


def _run(statements: Iterable[str]) -> None:
    for statement in statements:
        execute(statement.replace("%", "%%"))


def _run_long(statement: str) -> None:
    with transaction.atomic():
        allow_long_statements(LONG_SECONDS)
        # It waits for vacuum, and blocks neither reads nor writes of posts.
        execute("SET LOCAL lock_timeout = 0")
        execute(statement)
