"""Counts durations without a lock, for what happens thousands of times a second."""

from __future__ import annotations

import threading
import weakref
from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

# Observations by bucket, and the sum of their seconds at the end.
Row = list[Any]
Rows = dict[Any, Row]


class _Alive:
    """Ends with its thread."""


class DurationCounts:
    """Observations by key. Each thread has rows of its own, so it needs no lock and no count is lost."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._width = len(bounds) + 2
        self._local = threading.local()
        self._lock = threading.Lock()
        self._threads: list[tuple[weakref.ref[_Alive], Rows]] = []
        self._ended: Rows = {}

    def add(self, key: Hashable, seconds: float) -> None:
        try:
            rows: Rows = self._local.rows
        except AttributeError:
            rows = self._new_thread()
        row = rows.get(key)
        if row is None:
            row = rows[key] = [0] * self._width
        row[bisect_left(self._bounds, seconds)] += 1
        row[-1] += seconds

    def totals(self) -> Rows:
        """All observations since the start of the process."""
        with self._lock:
            for entry in [entry for entry in self._threads if entry[0]() is None]:
                self._threads.remove(entry)
                _add_to(self._ended, entry[1])
            totals: Rows = {}
            for rows in (self._ended, *(rows for _alive, rows in self._threads)):
                _add_to(totals, rows)
        return totals

    def _new_thread(self) -> Rows:
        rows: Rows = {}
        self._local.rows, self._local.alive = rows, _Alive()
        with self._lock:
            self._threads.append((weakref.ref(self._local.alive), rows))
        return rows


class Changes:
    """What was added to counts since the last call."""

    def __init__(self, counts: DurationCounts) -> None:
        self._counts = counts
        self._before: Rows = {}

    def take(self) -> Iterator[tuple[Any, list[int], float]]:
        """Keys, and their new observations by bucket with the sum of their seconds."""
        before, self._before = self._before, self._counts.totals()
        for key, row in self._before.items():
            old = before.get(key) or [0] * len(row)
            *counts, seconds = (now - then for now, then in zip(row, old, strict=True))
            if any(counts):
                yield key, counts, seconds


def _add_to(totals: Rows, rows: Rows) -> None:
    # `list` copies the items in one step, while another thread may add one.
    for key, row in list(rows.items()):
        known = totals.get(key)
        totals[key] = list(row) if known is None else [one + other for one, other in zip(known, row, strict=True)]
