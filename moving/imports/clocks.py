"""Dates without an offset, by the clock of the site: the other dates of the file show how far it is ahead of UTC."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from functools import lru_cache

from moving.formats import Post
from moving.imports.texts import EARLIEST, microseconds

HOUR = 3_600_000_000
DAY = 24 * HOUR
# No zone is further from UTC: two dates that differ by more are not of one moment.
AHEAD_MAX = 15 * HOUR
FIRST = microseconds(EARLIEST) or 0
ADD = "INSERT OR IGNORE INTO clock VALUES (?, ?)"
# Summer time changes the offset: that of the nearest day is taken.
NEAREST = """
SELECT ahead FROM (
    SELECT * FROM (SELECT day, ahead FROM clock WHERE day <= :day ORDER BY day DESC LIMIT 1)
    UNION ALL SELECT * FROM (SELECT day, ahead FROM clock WHERE day > :day ORDER BY day LIMIT 1)
) ORDER BY abs(day - :day) LIMIT 1
"""


class Clocks:
    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self.ahead_at = lru_cache(1_000)(self._ahead_at)

    def take(self, post: Post) -> tuple[int | None, int | None]:
        """The local dates of a post and its thread, as if they were of UTC. What they show is stored, a row a day."""
        dates = ((post.created_at, post.created_local), (post.thread_created_at, post.thread_created_local))
        local, of_thread = (self._local(*pair) for pair in dates)
        return local, of_thread

    def _local(self, at: datetime | None, local: datetime | None) -> int | None:
        if local is None:
            return None
        time, shown = microseconds(at), microseconds(local.replace(tzinfo=UTC)) or 0
        if time is not None and time >= FIRST and abs(shown - time) <= AHEAD_MAX:
            self._database.execute(ADD, (shown // DAY, shown - time))
        return shown

    def _ahead_at(self, day: int) -> int | None:
        row = self._database.execute(NEAREST, {"day": day}).fetchone()
        return None if row is None else int(row[0])


def shown_offset(ahead: int) -> str:
    hours, minutes = divmod(abs(ahead) // 60_000_000, 60)
    return f"{'-' if ahead < 0 else '+'}{hours:02}:{minutes:02}"
