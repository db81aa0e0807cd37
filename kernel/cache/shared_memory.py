"""Files of fixed size that every process of a host maps into its memory.

Versions in a file of half a megabyte that every process of a host maps.
"""

from __future__ import annotations

import logging
import mmap
import os
from pathlib import Path

from kernel.allocation import allocate
from kernel.cache.slots import SLOTS, new_version, slot_of

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


SIZE = SLOTS * 8


class SharedMemoryVersionStore:
    """A version is written by one aligned store of a machine word, so readers need no lock.

    If a reader did see half of a store, the number would match no snapshot.
    """

    def __init__(self, path: Path) -> None:
        memory = map_file(path, SIZE)
        self._slots = None if memory is None else memory.cast("Q")

    def read(self, tags: tuple[str, ...]) -> tuple[int, ...] | None:
        slots = self._slots
        if slots is None:
            return None
        return tuple([slots[slot_of(tag)] for tag in tags])

    def is_available(self) -> bool:
        return self._slots is not None

    def bump(self, tags: tuple[str, ...]) -> None:
        if self._slots is None:
            return
        for tag in tags:
            self._slots[slot_of(tag)] = new_version()
