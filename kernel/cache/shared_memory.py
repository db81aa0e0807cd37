"""Files of fixed size that every process of a host maps into its memory."""

from __future__ import annotations

import logging
import mmap
import os
from pathlib import Path

from kernel.allocation import allocate

logger = logging.getLogger(__name__)


def map_file(path: Path, size: int) -> memoryview | None:
    """Return the bytes of the file, shared and writable, or None if it cannot be created."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            if file.seek(0, os.SEEK_END) < size:
                allocate(file, size)
            return memoryview(mmap.mmap(file.fileno(), size))
    except OSError as error:
        logger.warning("%s cannot be used (%s): processes share nothing through it.", path, error)
        return None
