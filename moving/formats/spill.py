"""A map of any size: in memory while it is small, then in a temporary file."""

from __future__ import annotations

import sqlite3
from contextlib import suppress

MEMORY_MAX = 50_000


class SpillingMap:
    """Texts by key. The first value of a key stays. The file is SQLite's own and vanishes with the process."""

    def __init__(self) -> None:
        self.small: dict[str, str] = {}
        self.large: sqlite3.Connection | None = None

    def add(self, key: str, value: str) -> None:
        if self.large is not None:
            self.large.execute("INSERT OR IGNORE INTO entries VALUES (?, ?)", (key, value))
        elif len(self.small) < MEMORY_MAX or key in self.small:
            self.small.setdefault(key, value)
        else:
            self._spill()
            self.add(key, value)

    def get(self, key: str) -> str | None:
        if self.large is None:
            return self.small.get(key)
        row = self.large.execute("SELECT value FROM entries WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def close(self) -> None:
        if self.large is not None:
            with suppress(sqlite3.Error):
                self.large.close()

    def _spill(self) -> None:
        """An empty name is a temporary file, which is removed when it is closed."""
        self.large = sqlite3.connect("", isolation_level=None)
        self.large.execute("PRAGMA journal_mode = OFF")
        self.large.execute("PRAGMA synchronous = OFF")
        self.large.execute("PRAGMA cache_size = -16000")
        self.large.execute("CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
        self.large.execute("BEGIN")
        self.large.executemany("INSERT INTO entries VALUES (?, ?)", self.small.items())
        self.small.clear()
