"""Answers kept in the process's own memory."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from threading import Lock

from config.api.freshness import Recipe, Watched
from config.api.responses import etag_of, to_json

# What an entry costs beside its key and body, about.
ENTRY_BYTES = 4_000
WAIT_SECONDS = 2.0
Headers = list[tuple[str, str]]
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """One answer, ready to be sent."""

    watched: Watched
    until: float
    status: str
    headers: Headers
    body: bytes
    etag: str
    recipe: Recipe | None = None

    def holds(self) -> bool:
        return time.monotonic() < self.until and self.watched.still_holds()

    def made_again(self, recipe: Recipe, *, until: float) -> Kept | None:
        """The same answer as things stand now; None where it cannot be kept. Raises whatever stands in its way."""
        watched = recipe.watch()
        if watched is None:
            return None
        body = to_json(recipe.make())
        changed = {"ETag": etag_of(body), "Content-Length": str(len(body))}
        headers = [(name, changed.get(name, value)) for name, value in self.headers]
        return replace(self, watched=watched, until=until, headers=headers, body=body, etag=changed["ETag"])


class EntryCache:
    """Bounded in bytes. The oldest entries go first: near enough to the least used, where all are short-lived."""

    def __init__(self, *, bytes_max: int, seconds: float) -> None:
        self._kept: dict[Key, Kept] = {}
        self._flights: dict[Key, Lock] = {}
        self._lock = Lock()
        self._bytes_max, self._seconds = bytes_max, seconds
        self.bytes = 0

    def find(self, key: Key) -> Kept | None:
        kept = self._kept.get(key)
        return kept if kept is not None and kept.holds() else None

    def find_old(self, key: Key) -> Kept | None:
        """Whether it holds or not."""
        return self._kept.get(key)

    def lasting(self) -> float:
        """Until when an answer begun now may be served, on the monotonic clock."""
        return time.monotonic() + self._seconds

    def keep(self, key: Key, kept: Kept) -> None:
        size = _size_of(key, kept)
        if size > self._bytes_max // 4:
            return
        with self._lock:
            self._drop(key)
            self._kept[key] = kept
            self.bytes += size
            while self.bytes > self._bytes_max:
                self._drop(next(iter(self._kept)))

    def forget(self, key: Key) -> None:
        with self._lock:
            self._drop(key)

    def _drop(self, key: Key) -> None:
        gone = self._kept.pop(key, None)
        self.bytes -= 0 if gone is None else _size_of(key, gone)

    def take_off(self, key: Key) -> Lock | None:
        """One thread at a time fills a key. Nobody waits long: a stuck fill must not hold up the other threads."""
        with self._lock:
            lock = self._flights.setdefault(key, Lock())
        return lock if lock.acquire(timeout=WAIT_SECONDS) else None

    def land(self, key: Key, flight: Lock | None) -> None:
        if flight is not None:
            flight.release()
            with self._lock:
                self._flights.pop(key, None)


def _size_of(key: Key, kept: Kept) -> int:
    return sum(map(len, key)) + len(kept.body) + ENTRY_BYTES
