"""Counters that the processes of one host share, in a file of two megabytes that all of them map.

The hash of a key selects a bucket, and its entry contains the hash, so two keys never share a count. A full bucket
evicts the entry that expires first; the hash is made with a secret, so that nobody can choose keys of one bucket. One
process at a time changes the file, under a lock that ends with its process. diskcache does the same in SQLite, at about
a hundred times the cost.
"""

from __future__ import annotations

import fcntl
import os
import time
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from threading import Lock

from kernel.cache.shared_memory import map_file

WAYS = 8
BUCKETS = 8_192
OWNER_BYTES = 16
# Expiry, count, hash of the key. The hash is last: if a process is killed before it, no other key gets the count.
ENTRY = Struct(f"=dQ{OWNER_BYTES}s")
BUCKET_BYTES = WAYS * ENTRY.size
SIZE = BUCKETS * BUCKET_BYTES
# A process has the lock for microseconds, unless it is frozen.
LOCK_SECONDS = 0.01
RETRY_SECONDS = 0.0002


class SharedCounters:
    """If the file cannot be created, only the threads of this process share the counters."""

    def __init__(self, path: Path, secret: str) -> None:
        self._secret = blake2b(secret.encode()).digest()
        memory = map_file(path, SIZE)
        self._memory = memoryview(bytearray(SIZE)) if memory is None else memory
        self._lock_file = None if memory is None else os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._threads = Lock()

    def increment(self, key: str, seconds: int) -> int:
        """Count one call and return the count of the key, or 0 without the lock.

        The entry expires after `seconds`.
        """
        text = key.encode(errors="surrogatepass")
        owner = blake2b(text, digest_size=OWNER_BYTES, key=self._secret).digest()
        with self._threads:
            if not self._lock():
                return 0
            try:
                return self._increment(owner, time.time() + seconds)
            finally:
                self._unlock()

    def clear(self) -> None:
        self._memory[:] = bytes(SIZE)

    def _increment(self, owner: bytes, until: float) -> int:
        start = int.from_bytes(owner[:4], "big") % BUCKETS * BUCKET_BYTES
        bucket = bytes(self._memory[start : start + BUCKET_BYTES])
        position = bucket.find(owner)
        if position < 0:
            offset, count = _first_to_expire(bucket), 0
        else:
            offset = position // ENTRY.size * ENTRY.size
            until, count, _owner = ENTRY.unpack_from(bucket, offset)
        ENTRY.pack_into(self._memory, start + offset, until, count + 1, owner)
        return count + 1

    def _lock(self) -> bool:
        if self._lock_file is None:
            return True
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return False
                time.sleep(RETRY_SECONDS)
            except OSError:
                # A file system without locks, or one that has lost its lock server.
                return False
            else:
                return True

    def _unlock(self) -> None:
        if self._lock_file is not None:
            fcntl.flock(self._lock_file, fcntl.LOCK_UN)


def _first_to_expire(bucket: bytes) -> int:
    """The offset of the entry that expires first; an empty entry counts as expired."""
    return min(range(0, BUCKET_BYTES, ENTRY.size), key=lambda offset: ENTRY.unpack_from(bucket, offset)[0])
