"""Bounds of partitions: ids are UUIDv7, so a range of ids is a range of time. Partitions begin with a month (UTC)."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

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
