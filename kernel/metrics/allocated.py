"""The file of metrics of one process, with its disk space reserved (`kernel.allocation`)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from prometheus_client.mmap_dict import MmapedDict

from kernel.allocation import allocate

# Of a new file; a file that is full is doubled.
SIZE = 64 * 1024
# What an entry has beside its key, at most: the length of the key, its padding, value and time.
ENTRY = 4 + 8 + 16


class AllocatedDict(MmapedDict):
    """On a full disk, a value that has no entry yet stays in its process, and is written when there is room."""

    def __init__(self, filename: str) -> None:
        self._path = Path(filename)
        # As of one that is closed: the first value opens it.
        self._f = None  # type: ignore[assignment]
        self._positions: dict[str, int] = {}

    def reserve(self, key: str) -> None:
        """Make room for an entry. Raises OSError."""
        file = self._f or self._open()
        if key in self._positions:
            return
        capacity = self._capacity
        while self._used + len(key.encode()) + ENTRY > capacity:
            capacity *= 2
        if capacity > self._capacity:
            allocate(file, capacity)

    def read_value(self, key: str) -> tuple[float, float]:
        with suppress(OSError):
            self.reserve(key)
            found: tuple[float, float] = super().read_value(key)  # type: ignore[no-untyped-call]
            return found
        return 0.0, 0.0

    def write_value(self, key: str, value: float, timestamp: float) -> None:
        with suppress(OSError):
            self.reserve(key)
            super().write_value(key, value, timestamp)  # type: ignore[no-untyped-call]

    def _open(self) -> BinaryIO:
        if not self._path.exists():
            # Under its name, it is never empty for a process that reads it.
            draft = self._path.with_suffix(".part")
            try:
                with draft.open("wb") as file:
                    allocate(file, SIZE)
                draft.rename(self._path)
            finally:
                draft.unlink(missing_ok=True)
        super().__init__(str(self._path))  # type: ignore[no-untyped-call]
        return self._f
