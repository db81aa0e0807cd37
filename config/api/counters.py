"""Counters that the processes of one host share, in a file of two megabytes that all of them map.

A key has one bucket by its hash, and in it an entry that bears the hash: two keys never share a count. In a full bucket
the entry that ends first gives way. One process at a time changes the file, under a lock that goes with its process.
diskcache would do it too, in SQLite, at some hundred times the cost.
"""

from __future__ import annotations

import fcntl
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from threading import Lock

from config.mapped_files import mapped

WAYS = 8
BUCKETS = 8_192
# When it ends, the count, and last, so that a process killed between them leaves no foreign count, the key's hash.
ENTRY = Struct("=dQ16s")
BUCKET_BYTES = WAYS * ENTRY.size
SIZE = BUCKETS * BUCKET_BYTES
# A process holds the lock for microseconds, unless it was frozen there.
LOCK_SECONDS = 0.01
LOOK_SECONDS = 0.0002


class SharedCounters:
    """Where the file cannot be made, the threads of this process share counters, and nobody else."""

    def __init__(self, path: Path) -> None:
        memory = mapped(path, SIZE)
        self._memory = memoryview(bytearray(SIZE)) if memory is None else memory
        self._file = None if memory is None else path.open("rb")
        self._threads = Lock()

    def increment(self, key: str, seconds: int) -> int:
        """The count of a key with this call, 0 where the lock cannot be had; it is forgotten after `seconds`."""
        owner = blake2b(key.encode(errors="surrogatepass"), digest_size=16).digest()
        if not self._threads.acquire(timeout=LOCK_SECONDS):
            return 0
        try:
            return self._increment(owner, time.time() + seconds) if self._lock() else 0
        finally:
            self._unlock()
            self._threads.release()

    def clear(self) -> None:
        self._memory[:] = bytes(SIZE)

    def _increment(self, owner: bytes, until: float) -> int:
        start = int.from_bytes(owner[:4], "big") % BUCKETS * BUCKET_BYTES
        entries = list(ENTRY.iter_unpack(self._memory[start : start + BUCKET_BYTES]))
        owners = [entry[-1] for entry in entries]
        if owner in owners:
            place = owners.index(owner)
            until, count, _owner = entries[place]
        else:
            place, count = min(range(WAYS), key=entries.__getitem__), 0
        ENTRY.pack_into(self._memory, start + place * ENTRY.size, until, count + 1, owner)
        return int(count) + 1

    def _lock(self) -> bool:
        if self._file is None:
            return True
        deadline = time.monotonic() + LOCK_SECONDS
        while time.monotonic() < deadline:
            with suppress(BlockingIOError):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            time.sleep(LOOK_SECONDS)
        return False

    def _unlock(self) -> None:
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
