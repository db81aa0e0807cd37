"""Files of fixed size that every process of a host maps into its memory."""

from __future__ import annotations

import logging
import mmap
import os
from io import BufferedRandom
from pathlib import Path

logger = logging.getLogger(__name__)


def map_file(path: Path, size: int) -> memoryview | None:
    """Return the bytes of the file, shared and writable, or None if it cannot be created."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            if file.seek(0, os.SEEK_END) < size:
                _allocate(file, size)
            return memoryview(mmap.mmap(file.fileno(), size))
    except OSError as error:
        logger.warning("%s cannot be used (%s): processes share nothing through it.", path, error)
        return None


def _allocate(file: BufferedRandom, size: int) -> None:
    """Reserve disk space for the whole file: on a full disk the kernel kills a process that writes into a hole.

    No lock is needed, because two processes may do this at the same time. (A mapping would keep the lock until its
    process ends.)
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.write(bytes(size))
        file.flush()
        os.fsync(file.fileno())
