"""Public reads on standbys (READ_DATABASE_URL) that show every acknowledged write.

A write gives its cache tags versions that contain its position in the log (`kernel.cache.shared_memory`), and a read
knows the versions of its tags anyway. It uses a standby that has replayed the highest of these positions, and one that
the primary had less than a second ago. Otherwise, and if the standby fails, it runs on the primary. A read that no tags
describe asks the primary for its position.

Positions in the log of PostgreSQL (WAL), as numbers of bytes. 0 is an unknown position.

What a session has committed is in the log before a position that it asks for afterwards. That is true with
`synchronous_commit` on, under which a commit is flushed before it is answered; where it is off, positions are unknown.

The database of the ORM's statements: that of the written ones (`kernel.database.sql.statements_on`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import cache
from itertools import count
from threading import Lock, local
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, Error, InterfaceError, OperationalError, connections

from kernel.database.bounds import answers_within
from kernel.database.deployment import STANDBY
from kernel.database.sql import current_alias, sqlstate, statements_on
from kernel.metrics.definitions import standby_reads

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


class StandbyRouter:
    """Rows that were read on a standby are changed on the primary."""

    def db_for_read(self, model: Any, **_hints: Any) -> str:
        return current_alias()

    def db_for_write(self, model: Any, **_hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, first: Any, second: Any, **_hints: Any) -> bool:
        return True


T = TypeVar("T")
# How long a read waits until a standby has replayed a write of just now.
WAIT_SECONDS, ASK_SECONDS = 0.02, 0.001
POSITION_SECONDS = 0.5
# How long a standby is left out after a failure, which doubles, and after it was too late.
PAUSE_SECONDS, PAUSE_MAX_SECONDS, LATE_SECONDS = 1.0, 30.0, 0.1
# A statement that is too slow, or that conflicts with the replay of the log: the standby is fine.
OF_THE_STATEMENT = frozenset({"57014", "40001", "40P01"})
# Where a read ran, for the metric: on a standby, or on the primary for one of these reasons.
ON_STANDBY = "standby"
UNKNOWN_POSITION, IN_TRANSACTION, SILENT_PRIMARY = "unknown_position", "in_transaction", "silent_primary"
LEFT_OUT, BEHIND, FAILED = "left_out", "behind", "failed"


class Standby:
    """One standby, as the threads of this process see it."""

    def __init__(self, alias: str) -> None:
        self.alias = alias
        self._out_until = 0.0
        self._pause = 0.0

    def is_out(self) -> bool:
        return time.monotonic() < self._out_until

    def reaches(self, position: int) -> bool:
        """Whether it has replayed the log up to there. It never goes back, so most reads do not ask."""
        database: Any = connections[self.alias]
        is_known = database.connection is not None and database.connection.replayed >= position
        if is_known and not self._pause:
            return True
        if self._pause:
            # It failed before: while one thread tries it, the others leave it out.
            self._out_until = time.monotonic() + self._pause
        try:
            with answers_within(POSITION_SECONDS):
                reached = self._waits_for(position, database)
        except Error as error:
            self.fail(error)
            return False
        self._pause, self._out_until = 0.0, 0.0 if reached else time.monotonic() + LATE_SECONDS
        return reached

    def _waits_for(self, position: int, database: Any) -> bool:
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            ((replayed,),) = database.run(REPLAYED, ()).fetchall()
            database.connection.replayed = replayed
            if replayed >= position or time.monotonic() > deadline:
                return bool(replayed >= position)
            time.sleep(ASK_SECONDS)

    def fail(self, error: Error) -> None:
        """Leave it out, unless the error is one of the statement."""
        if not isinstance(error, OperationalError | InterfaceError) or sqlstate(error) in OF_THE_STATEMENT:
            return
        self._pause = min(2 * self._pause or PAUSE_SECONDS, PAUSE_MAX_SECONDS)
        self._out_until = time.monotonic() + self._pause
        logger.warning("The standby %s is left out: %s", self.alias, str(error).strip()[:300])
        connections[self.alias].close()


class Standbys:
    """Those of READ_DATABASE_URL."""

    def __init__(self, aliases: list[str]) -> None:
        self._standbys = [Standby(alias) for alias in aliases]
        self._sample = Sample()
        self._numbers = count()
        self._thread = local()

    def read(self, load: Callable[[], T], position: int) -> T:
        """Run `load` where it shows the log up to `position`; 0 is unknown. It may run twice."""
        standby, reason = self._find(position)
        if standby is not None:
            try:
                with statements_on(standby.alias):
                    result = load()
            except Error as error:
                standby.fail(error)
                reason = FAILED
            else:
                standby_reads.labels(ON_STANDBY).inc()
                return result
        standby_reads.labels(reason).inc()
        return load()

    def _find(self, position: int) -> tuple[Standby | None, str]:
        """A standby; None and the reason why there is none."""
        if connections[DEFAULT_DB_ALIAS].in_atomic_block:
            return None, IN_TRANSACTION
        if not position:
            return None, UNKNOWN_POSITION
        sampled = self._sample.position()
        if not sampled:
            return None, SILENT_PRIMARY
        asked = [each for each in self._in_order() if not each.is_out()]
        required = max(position, sampled)
        found = next((each for each in asked if each.reaches(required)), None)
        return found, BEHIND if asked else LEFT_OUT

    def _in_order(self) -> list[Standby]:
        """Each thread prefers another one."""
        first = getattr(self._thread, "first", None)
        if first is None:
            first = self._thread.first = next(self._numbers) % len(self._standbys)
        return [*self._standbys[first:], *self._standbys[:first]]


@cache
def standbys() -> Standbys | None:
    """Those of this process; None without READ_DATABASE_URL."""
    aliases = [alias for alias in connections if alias.startswith(STANDBY)]
    return Standbys(aliases) if aliases else None


def read_on_standby(load: Callable[[], T], position: int) -> T:
    """Run `load`, which only reads, on a standby that has replayed the log up to `position`, or on the primary."""
    found = standbys()
    return load() if found is None else found.read(load, position)


def read_newest(load: Callable[[], T]) -> T:
    """Run `load`, which only reads, where it shows all that is committed: one short statement on the primary."""
    found = standbys()
    return load() if found is None else found.read(load, current_position())
