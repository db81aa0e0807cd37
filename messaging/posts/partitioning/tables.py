"""What the catalog of PostgreSQL knows about the table of posts and its partitions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from kernel.database.sql import fetch_all, fetch_one
from messaging.posts.partitioning.bounds import time_of

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
