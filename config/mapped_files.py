"""Files of fixed size that every process of this host maps into its memory."""

from __future__ import annotations

import logging
import mmap
import os
from pathlib import Path

KEPT_ANSWERS = "answers"
logger = logging.getLogger(__name__)


def mapped(path: Path, size: int) -> memoryview | None:
    """Its bytes, for all to read and write; None where the file cannot be made, and the process does without."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            # No lock: what two processes append at once is only more than is mapped. (A mapping would keep a lock for
            # as long as the process lives.) Written, not just sized: a full disk kills who writes into a hole.
            if file.seek(0, os.SEEK_END) < size:
                file.write(bytes(size))
                file.flush()
                os.fsync(file.fileno())
            return memoryview(mmap.mmap(file.fileno(), size))
    except OSError as failure:
        logger.warning("%s cannot be used (%s): answers are kept by fewer, or not at all.", path, failure)
        return None
