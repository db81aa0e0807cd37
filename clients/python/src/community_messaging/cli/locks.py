"""A lock between processes, by a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

# As on Windows. The holder of the lock may wait for a person to unlock the keyring.
WAIT_SECONDS, PAUSE_SECONDS = 10.0, 0.02

if sys.platform == "win32":
    import msvcrt

    def _acquire(descriptor: int) -> None:
        # Waits ten seconds, then raises OSError.
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)

    def _release(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _acquire(descriptor: int) -> None:
        deadline = monotonic() + WAIT_SECONDS
        while True:
            try:
                return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if monotonic() > deadline:
                    raise
            sleep(PAUSE_SECONDS)

    def _release(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for the lock and hold it; raises OSError after ten seconds.

    The file is created and stays, because others may wait for it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _acquire(descriptor)
        try:
            yield
        finally:
            _release(descriptor)
    finally:
        os.close(descriptor)
