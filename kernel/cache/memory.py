"""The cached responses of one process."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from threading import Lock

from kernel.cache.loaders import LoadedBody, Loader
from kernel.cache.rendering import etag_of
from kernel.cache.versions import TagSnapshot
from kernel.metrics.exposition import STORES

# The estimated size of an entry besides its key and body.
ENTRY_BYTES = 4_000
FILL_LOCK_SECONDS = 2.0
Headers = list[tuple[str, str]]
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A complete response. `expires_at` is a time of the monotonic clock."""

    snapshot: TagSnapshot
    expires_at: float
    status: str
    headers: Headers
    body: bytes
    etag: str
    loader: Loader | None = None
    operation: str | None = None

    def is_valid(self) -> bool:
        return time.monotonic() < self.expires_at and self.snapshot.is_valid()

    def refreshed(self, loaded: LoadedBody, *, expires_at: float) -> CachedResponse:
        """Return the same response with another body."""
        etag = etag_of(loaded.body)
        changed = {"ETag": etag, "Content-Length": str(len(loaded.body))}
        headers = [(name, changed.get(name, value)) for name, value in self.headers]
        return replace(
            self, snapshot=loaded.snapshot, expires_at=expires_at, headers=headers, body=loaded.body, etag=etag
        )


class ResponseStore:
    """Bounded in bytes. It evicts the oldest entries first, which is close to least recently used: all expire soon."""

    def __init__(self, *, bytes_max: int, seconds: float) -> None:
        self._responses: dict[Key, CachedResponse] = {}
        self._fill_locks: dict[Key, Lock] = {}
        self._lock = Lock()
        self._bytes_max, self._seconds = bytes_max, seconds
        self.bytes = 0
        STORES.add(self)

    def get(self, key: Key) -> CachedResponse | None:
        response = self._responses.get(key)
        return response if response is not None and response.is_valid() else None

    def next_expiry(self) -> float:
        """Return the expiry of a response that is built from now on."""
        return time.monotonic() + self._seconds

    def set(self, key: Key, response: CachedResponse) -> None:
        size = _size_of(key, response)
        if size > self._bytes_max // 4:
            return
        with self._lock:
            self._remove(key)
            self._responses[key] = response
            self.bytes += size
            while self.bytes > self._bytes_max:
                self._remove(next(iter(self._responses)))

    def pop(self, key: Key) -> CachedResponse | None:
        """Remove the response and return it, valid or not."""
        with self._lock:
            return self._remove(key)

    def _remove(self, key: Key) -> CachedResponse | None:
        removed = self._responses.pop(key, None)
        self.bytes -= 0 if removed is None else _size_of(key, removed)
        return removed

    def acquire_fill_lock(self, key: Key) -> Lock | None:
        """Let one thread at a time fill a key. The wait is bounded: a stuck fill must not block the other threads."""
        with self._lock:
            lock = self._fill_locks.setdefault(key, Lock())
        return lock if lock.acquire(timeout=FILL_LOCK_SECONDS) else None

    def release_fill_lock(self, key: Key, lock: Lock | None) -> None:
        if lock is not None:
            lock.release()
            with self._lock:
                self._fill_locks.pop(key, None)


def _size_of(key: Key, response: CachedResponse) -> int:
    return sum(map(len, key)) + len(response.body) + ENTRY_BYTES
