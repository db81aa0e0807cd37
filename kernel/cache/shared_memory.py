"""Versions of cache tags in a file of half a megabyte, which every process of a host maps into its memory.

Each tag has one of a fixed number of slots. Tags that share a slot only invalidate each other.
"""

from __future__ import annotations

import logging
import mmap
import os
import secrets
from pathlib import Path
from zlib import crc32

from kernel.allocation import allocate

SLOTS = 65_536
VERSION_BITS = 63
RANDOM_DIGITS = 19
RANDOM_END: int = 10**RANDOM_DIGITS


def slot_of(tag: str) -> int:
    """Return the slot of a tag, the same in every process and on every host (Python's own hash is not)."""
    return crc32(tag.encode()) % SLOTS


def new_version(position: int = 0) -> int:
    """Return a random number instead of a count: it does not repeat, and writers need no lock.

    The digits above it are a position in the log of PostgreSQL (`kernel.database.standbys`): a read that has it sees
    all writes that this version, and those before it, were given for.
    """
    return position * RANDOM_END + secrets.randbits(VERSION_BITS)


def position_of(version: int) -> int:
    """0 is an unknown position."""
    return version // RANDOM_END


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
