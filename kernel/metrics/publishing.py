"""Adds what this process has counted in memory to its metrics."""

from __future__ import annotations

import atexit
import threading
from functools import cache

from kernel.metrics import definitions
from kernel.metrics.definitions import Changes
from kernel.metrics.exposition import CONNECTIONS, REQUESTS, STATEMENTS, STORES

SECONDS = 1.0


class Publisher:
    def __init__(self) -> None:
        self._requests, self._statements = Changes(REQUESTS), Changes(STATEMENTS)
        self._lock = threading.Lock()

    def publish(self) -> None:
        with self._lock:
            self._publish_requests()
            for _key, counts, seconds in self._statements.take():
                definitions.statement_seconds.add(counts, seconds)
            definitions.connections.set(sum(not connection.closed for connection in list(CONNECTIONS)))
            definitions.cache_bytes.set(sum(store.bytes for store in list(STORES)))

    def _publish_requests(self) -> None:
        for (operation, status, result), counts, seconds in self._requests.take():
            number = sum(counts)
            definitions.requests.labels(operation, status).inc(number)
            definitions.request_seconds.labels(operation).add(counts, seconds)
            if result:
                definitions.cache_results.labels(result).inc(number)


@cache
def publisher() -> Publisher:
    """The one publisher of this process."""
    return Publisher()


def start() -> None:
    """Publish once a second, and at the end of the process."""
    stopped = threading.Event()

    def run() -> None:
        while not stopped.wait(SECONDS):
            publisher().publish()

    threading.Thread(target=run, daemon=True, name="metrics").start()
    atexit.register(publisher().publish)
    atexit.register(stopped.set)
