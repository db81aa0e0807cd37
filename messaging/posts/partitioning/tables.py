"""What the catalog of PostgreSQL knows about the table of posts and its partitions.

Bounds of partitions: ids are UUIDv7, so a range of ids is a range of time. Partitions begin with a month (UTC).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from kernel.database.sql import fetch_all, fetch_one

# The bits of a UUIDv7 after its time in milliseconds.
REST_BITS = 80


def first_id(at: datetime) -> UUID:
    """An id that is less than each UUIDv7 of that time or later, and greater than each earlier one."""
    return UUID(int=round(at.timestamp() * 1000) << REST_BITS)


def time_of(bound: UUID) -> datetime:
    return datetime.fromtimestamp((bound.int >> REST_BITS) / 1000, UTC)


def month_after(at: datetime, months: int) -> datetime:
    """The beginning of the month that is `months` after the month of `at`."""
    number = at.year * 12 + at.month - 1 + months
    return datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)


def months_between(start: datetime, end: datetime) -> int:
    return (end.year - start.year) * 12 + end.month - start.month


TABLE = "messaging_message"
# The partition of all posts before the conversion, and that of ids which no other partition has.
FIRST, REST = f"{TABLE}_first", f"{TABLE}_rest"
# On the table before the conversion: proves to PostgreSQL that it may become FIRST without reading it.
BOUND_CHECK = f"{TABLE}_first_bound"

KIND = "SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass(%s)"
PARTITIONS = """
SELECT child.relname, pg_get_expr(child.relpartbound, child.oid) FROM pg_inherits
JOIN pg_class child ON child.oid = inhrelid WHERE inhparent = to_regclass(%s)
"""
CHECK = """
SELECT convalidated, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = to_regclass(%s) AND conname = %s
"""
UUIDS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Partition:
    """`start` is None for FIRST, `end` is exclusive."""

    name: str
    start: datetime | None
    end: datetime


@dataclass(frozen=True, slots=True)
class BoundCheck:
    """BOUND_CHECK: no post has an id of `end` or later."""

    is_valid: bool
    end: datetime


def is_partitioned() -> bool:
    row = fetch_one(KIND, [TABLE])
    return row is not None and bool(row[0])


def partitions() -> list[Partition]:
    """In order of time, without REST."""
    found = []
    for name, bounds in fetch_all(PARTITIONS, [TABLE]):
        if times := [time_of(UUID(text)) for text in UUIDS.findall(bounds)]:
            found.append(Partition(name, times[0] if len(times) > 1 else None, times[-1]))
    return sorted(found, key=lambda partition: partition.end)


def all_partitions() -> list[str]:
    """Names, with that of REST."""
    return sorted(name for name, _ in fetch_all(PARTITIONS, [TABLE]))


def bound_check() -> BoundCheck | None:
    row = fetch_one(CHECK, [TABLE, BOUND_CHECK])
    return BoundCheck(row[0], time_of(UUID(UUIDS.findall(row[1])[0]))) if row else None
