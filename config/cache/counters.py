"""Counters that the processes of one host share, in a file of two megabytes that all of them map.

A key has one bucket by its hash, and in it an entry that bears the hash: two keys never share a count. In a full bucket
the entry that ends first gives way. One process at a time changes the file, under a lock that goes with its process.
diskcache would do it too, in SQLite, at some hundred times the cost.
"""

from __future__ import annotations

import fcntl
import os
import time
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from threading import Lock

from config.cache.shared_memory import map_file

WAYS = 8
BUCKETS = 8_192
OWNER_BYTES = 16
# When it ends, the count, and last, so that a process killed between them leaves no foreign count, the key's hash.
ENTRY = Struct(f"=dQ{OWNER_BYTES}s")
BUCKET_BYTES = WAYS * ENTRY.size
SIZE = BUCKETS * BUCKET_BYTES
# A process holds the lock for microseconds, unless it was frozen there.
LOCK_SECONDS = 0.01
LOOK_SECONDS = 0.0002


class SharedCounters:
    """Where the file cannot be made, the threads of this process share counters, and nobody else."""

    def __init__(self, path: Path) -> None:
        memory = map_file(path, SIZE)
        self._memory = memoryview(bytearray(SIZE)) if memory is None else memory
        self._lock_file = None if memory is None else os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._threads = Lock()

    def increment(self, key: str, seconds: int) -> int:
        """The count of a key with this call, 0 where the lock cannot be had.

        After `seconds` another key may take its place.
        """
        owner = blake2b(key.encode(errors="surrogatepass"), digest_size=OWNER_BYTES).digest()
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
        found = bucket.find(owner)
        if found < 0:
            place, count = _first_to_end(bucket), 0
        else:
            place = found // ENTRY.size * ENTRY.size
            until, count, _owner = ENTRY.unpack_from(bucket, place)
        ENTRY.pack_into(self._memory, start + place, until, count + 1, owner)
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
                time.sleep(LOOK_SECONDS)
            except OSError:
                # A file system without locks, or one that has lost its lock server.
                return False
            else:
                return True

    def _unlock(self) -> None:
        if self._lock_file is not None:
            fcntl.flock(self._lock_file, fcntl.LOCK_UN)


def _first_to_end(bucket: bytes) -> int:
    """The position of the entry that ends first; empty ones ended long ago."""
    return min(range(0, BUCKET_BYTES, ENTRY.size), key=lambda place: ENTRY.unpack_from(bucket, place)[0])
