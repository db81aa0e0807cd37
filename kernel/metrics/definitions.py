"""All metrics. Labels have bounded values: ids of operations and names of limits, never paths, ids or addresses.

Counts durations without a lock, for what happens thousands of times a second.
"""

from __future__ import annotations

import threading
import weakref
from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from prometheus_client import Counter, Gauge, Histogram, values

from kernel.metrics.allocated import AllocatedDict

# The library's own files have holes.
setattr(values, "MmapedDict", AllocatedDict)  # noqa: B010  the library does not export the name

NAMESPACE = "community_messaging"
# Bounds of the buckets in seconds; cached responses take less than the first.
SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Durations(Histogram):
    """A histogram that takes many observations at once."""

    def add(self, counts: Sequence[int], seconds: float) -> None:
        """Add the observations of each bucket, and the sum of all."""
        for bucket, count in zip(self._buckets, counts, strict=True):
            if count:
                bucket.inc(count)
        self._sum.inc(seconds)


def _counter(name: str, help_text: str, *labels: str) -> Counter:
    return Counter(name, help_text, labels, namespace=NAMESPACE)


def _durations(name: str, help_text: str, *labels: str) -> Durations:
    return Durations(name, help_text, labels, namespace=NAMESPACE, buckets=SECONDS)


def _gauge(name: str, help_text: str, *labels: str, mode: Any) -> Gauge:
    """`mode`: how the values of several processes become one; `live…` leaves out processes that have ended."""
    return Gauge(name, help_text, labels, namespace=NAMESPACE, multiprocess_mode=mode)


requests = _counter("requests", "Responses, by operation and status.", "operation", "status")
request_seconds = _durations("request_seconds", "Time until the response, by operation.", "operation")
cache_results = _counter("response_cache_results", "Reads that the response cache may serve, by result.", "result")
cache_bytes = _gauge("response_cache_bytes", "Estimated size of the cached responses.", mode="livesum")
refusals = _counter("refusals", "Refused requests, by error code.", "code")
limits_hit = _counter("limits_hit", "Requests refused with 429, by limit.", "limit")
replays = _counter("idempotent_replays", "Stored responses that were returned for a repeated key.", "same_body")

statement_seconds = _durations("statement_seconds", "Time of SQL statements.")
slow_statements = _counter("slow_statements", "SQL statements that took SLOW_STATEMENT_MS or longer.")
connections = _gauge("database_connections", "Open connections to PostgreSQL.", mode="livesum")
connections_opened = _counter("database_connections_opened", "Connections to PostgreSQL that were opened.")
standby_reads = _counter(
    "standby_reads", "Uncached public reads: those that ran on a standby, others by the reason why not.", "result"
)

streams_open = _gauge("streams_open", "Open streams.", mode="livesum")
# A time, so that it also tells if the process that sets it is stuck or has ended: `time() - …`.
log_read_at = _gauge(
    "change_log_read_timestamp_seconds", "When the streams last had all changes of the log.", mode="max"
)
webhooks_waiting = _gauge("webhooks_waiting", "Webhooks that have something to send now.", mode="livemax")
webhook_attempts = _counter("webhook_attempts", "Requests of webhooks, by result.", "result")

housekeeping_at = _gauge(
    "housekeeping_success_timestamp_seconds", "When a command of housekeeping last succeeded.", "command", mode="max"
)
housekeeping_seconds = _gauge(
    "housekeeping_seconds", "How long a command of housekeeping last took.", "command", mode="livemostrecent"
)
housekeeping_failures = _counter("housekeeping_failures", "Failed commands of housekeeping.", "command")
oldest_job_seconds = _gauge("oldest_job_seconds", "How long the oldest job has waited that could run.", mode="livemax")
backup_at = _gauge(
    "backup_success_timestamp_seconds",
    "When the last backup, or restore drill, of BACKUP_REPORT succeeded; 0: never.",
    "what",
    mode="max",
)
# The lowest of the workers: each asks for itself, and a part is there if all of them reach it.
ready = _gauge("ready", "Whether a part that /readyz names is there: 1 or 0.", "part", mode="livemin")
restarts = _counter("process_restarts", "Processes of the service that ended and were started again.", "process")


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
