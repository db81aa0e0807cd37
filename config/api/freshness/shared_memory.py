"""Versions in a file of half a megabyte that every process of this host maps."""

from __future__ import annotations

import logging
import mmap
import os
from pathlib import Path

from config.api.freshness.slots import SLOTS, new_version, slot_of

SIZE = SLOTS * 8
logger = logging.getLogger(__name__)


class SharedMemoryHome:
    """A version is written in one aligned store of the machine's word, so that no reader needs a lock.

    Were a store ever seen half done, the number seen would be one that no answer was kept under.
    """

    def __init__(self, path: Path) -> None:
        self._slots = _mapped(path)

    def read(self, subjects: tuple[str, ...]) -> tuple[int, ...] | None:
        slots = self._slots
        if slots is None:
            return None
        return tuple([slots[slot_of(subject)] for subject in subjects])

    def renew(self, subjects: tuple[str, ...]) -> None:
        if self._slots is None:
            return
        for subject in subjects:
            self._slots[slot_of(subject)] = new_version()


def _mapped(path: Path) -> memoryview | None:
    """None where the file cannot be made: then nothing is kept, and everything else works."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            # No lock: what two processes append at once is only more than is mapped. (A mapping would keep a lock for
            # as long as the process lives.) Written, not just sized: a full disk kills who writes into a hole.
            if file.seek(0, os.SEEK_END) < SIZE:
                file.write(bytes(SIZE))
                file.flush()
                os.fsync(file.fileno())
            return memoryview(mmap.mmap(file.fileno(), SIZE)).cast("Q")
    except OSError as failure:
        logger.warning("%s cannot be used (%s): no answers are kept.", path, failure)
        return None
