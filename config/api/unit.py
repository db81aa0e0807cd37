"""Opening the unit of work of a write, in two statements.

The first takes every lock. The second sees what was committed before: the answer kept under the Idempotency-Key, and
what is spent of the hourly limits. (One statement would look at the snapshot it took before it got its locks.)
"""

from __future__ import annotations

from config.api import idempotency, limits
from config.api.errors import IdempotencyInProgress
from config.api.idempotency import KeyedWrite, Replay
from config.api.limits import Budget
from config.api.sql import fetch_all, fetch_one

# Whoever finds the key held is told so at once, and waits for no other lock.
LOCK = f"""
SELECT CASE WHEN %(key_lock)s::bigint IS NULL OR pg_try_advisory_xact_lock(%(key_lock)s) THEN ({limits.LOCK}) END
"""
LOOK = f"""
SELECT kept.*, tally.* FROM (VALUES (0)) opening
LEFT JOIN ({idempotency.FIND}) kept ON true LEFT JOIN ({limits.TALLY}) tally ON true
"""  # noqa: S608  made of constants
KEPT_COLUMNS = 5
NO_KEY = {"key_lock": None, "key_mac": None, "previous_key_mac": None}


def open_unit(keyed: KeyedWrite | None, budget: Budget) -> Replay | None:
    """The answer to replay, if one is kept; tells `budget` how it stands. The transaction holds all locks to its end.

    Raises IdempotencyInProgress (409) while another call holds the key.
    """
    if keyed is None and not budget.counters:
        return None
    values = budget.values | (NO_KEY if keyed is None else keyed.values)
    if fetch_one(LOCK, values) == (None,):
        raise IdempotencyInProgress
    rows = fetch_all(LOOK, values)
    budget.tell(row[KEPT_COLUMNS:] for row in rows if budget.counters)
    kept = rows[0][:KEPT_COLUMNS]
    return None if keyed is None or kept[0] is None else keyed.replay_of(kept)
