"""Positions in the log of PostgreSQL (WAL), as numbers of bytes. 0 is an unknown position.

What a session has committed is in the log before a position that it asks for afterwards. That is true with
`synchronous_commit` on, under which a commit is flushed before it is answered; where it is off, positions are unknown.
"""

from __future__ import annotations

import logging
import time
from threading import Lock
from typing import Any

from django.db import DEFAULT_DB_ALIAS, Error, connections

FLUSHED = """
SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN 0
    ELSE pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint END
"""
REPLAYED = "SELECT coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0)::bigint"
SAMPLE_SECONDS = 0.5
logger = logging.getLogger(__name__)


def current_position() -> int:
    """The position of the primary, which contains all that is committed; 0 if it does not say. Never raises."""
    try:
        database: Any = connections[DEFAULT_DB_ALIAS]
        ((position,),) = database.run(FLUSHED, ()).fetchall()
        return int(position)
    except Error as error:
        logger.warning("The primary does not tell its position: %s", str(error).strip()[:300])
        return 0


class Sample:
    """A position of the primary that is at most one second old.

    It bounds the age of what a standby shows, if an invalidation was lost.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._position, self._at = 0, float("-inf")

    def position(self) -> int:
        """One thread asks the primary at a time; meanwhile the others use what is known. 0: unknown, or too old."""
        age = time.monotonic() - self._at
        if age < SAMPLE_SECONDS:
            return self._position
        if self._lock.acquire(blocking=False):
            try:
                asked = time.monotonic()
                self._position = current_position()
                self._at = asked
            finally:
                self._lock.release()
            return self._position
        return self._position if age < 2 * SAMPLE_SECONDS else 0
