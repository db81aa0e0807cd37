"""Versions in a file of half a megabyte that every process of this host maps."""

from __future__ import annotations

from pathlib import Path

from config.api.freshness.slots import SLOTS, new_version, slot_of
from config.mapped_files import mapped

SIZE = SLOTS * 8


class SharedMemoryHome:
    """A version is written in one aligned store of the machine's word, so that no reader needs a lock.

    Were a store ever seen half done, the number seen would be one that no answer was kept under.
    """

    def __init__(self, path: Path) -> None:
        memory = mapped(path, SIZE)
        self._slots = None if memory is None else memory.cast("Q")

    def read(self, subjects: tuple[str, ...]) -> tuple[int, ...] | None:
        slots = self._slots
        if slots is None:
            return None
        return tuple([slots[slot_of(subject)] for subject in subjects])

    def is_away(self) -> bool:
        return self._slots is None

    def renew(self, subjects: tuple[str, ...]) -> None:
        if self._slots is None:
            return
        for subject in subjects:
            self._slots[slot_of(subject)] = new_version()
