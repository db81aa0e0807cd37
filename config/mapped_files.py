"""Files of fixed size that every process of this host maps into its memory."""

from __future__ import annotations

import logging
import mmap
import os
from io import BufferedRandom
from pathlib import Path

logger = logging.getLogger(__name__)


def mapped(path: Path, size: int) -> memoryview | None:
    """Its bytes, for all to read and write; None where the file cannot be made, and the process does without."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            if file.seek(0, os.SEEK_END) < size:
                _fill_up(file, size)
            return memoryview(mmap.mmap(file.fileno(), size))
    except OSError as failure:
        logger.warning("%s cannot be used (%s): answers are kept by fewer, or not at all.", path, failure)
        return None


def _fill_up(file: BufferedRandom, size: int) -> None:
    """Have room on the disk for all of it, not just a size: a full disk kills who writes into a hole.

    Without a lock: two processes at once only do the same twice. (A mapping would keep a lock as long as its process.)
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.write(bytes(size))
        file.flush()
        os.fsync(file.fileno())
