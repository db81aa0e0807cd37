"""Adds to counts, or replaces them, in one statement each. Keys are sorted, so that two processes do not deadlock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date
from typing import TypeVar
from uuid import UUID

from kernel.database.sql import execute

CountKey = tuple[UUID, str, date]
TotalKey = tuple[str, date, str]
Key = TypeVar("Key", CountKey, TotalKey)

ADD_COUNTS = """
INSERT INTO desk_dailycount (subject_id, kind, day, count)
SELECT * FROM unnest(%(subjects)s::uuid[], %(kinds)s::text[], %(days)s::date[], %(counts)s::int[])
ON CONFLICT (subject_id, kind, day) DO UPDATE SET count = desk_dailycount.count + excluded.count
"""
ADD_TOTALS = """
INSERT INTO desk_dailytotal (kind, day, name, count)
SELECT * FROM unnest(%(kinds)s::text[], %(days)s::date[], %(names)s::text[], %(counts)s::bigint[])
ON CONFLICT (kind, day, name) DO UPDATE SET count = desk_dailytotal.count + excluded.count
"""


def add_counts(counts: Counter[CountKey]) -> None:
    rows = _sorted(counts)
    if rows:
        execute(
            ADD_COUNTS,
            {
                "subjects": [key[0] for key, _count in rows],
                "kinds": [key[1] for key, _count in rows],
                "days": [key[2] for key, _count in rows],
                "counts": [count for _key, count in rows],
            },
        )


def add_totals(totals: Counter[TotalKey]) -> None:
    rows = _sorted(totals)
    if rows:
        execute(
            ADD_TOTALS,
            {
                "kinds": [key[0] for key, _count in rows],
                "days": [key[1] for key, _count in rows],
                "names": [key[2] for key, _count in rows],
                "counts": [count for _key, count in rows],
            },
        )


def _sorted(counts: Mapping[Key, int]) -> list[tuple[Key, int]]:
    return sorted(counts.items())
