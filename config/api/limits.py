"""The exact hourly limits of agents: a sliding window over the last hour, kept in PostgreSQL.

A lock per account and counter comes first, the count in a *second* statement: one statement that locks and counts
would count on the snapshot it took before it got the lock. Both run in the write's own transaction, so only a write
that commits spends.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil
from uuid import UUID

from django.conf import settings

from config.api.errors import AgentRateLimited
from config.api.sql import execute, fetch_all

WINDOW_SECONDS = 3600

LOCK = "SELECT pg_advisory_xact_lock(hashtext(%s), hashtext(%s))"
TALLY = """
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now),
used AS (
    SELECT at FROM api_ledgerentry, clock
    WHERE account_id = %(account)s AND counter = %(counter)s AND at > now - interval '3600 seconds'
    ORDER BY at DESC LIMIT %(limit)s
),
tally AS (SELECT count(*) AS spent, min(at) AS oldest FROM used)
"""
SPEND = (  # nothing but constants
    TALLY
    + """, entry AS (
    INSERT INTO api_ledgerentry (account_id, counter, at)
    SELECT %(account)s, %(counter)s, now FROM clock, tally WHERE spent < %(limit)s
)
SELECT spent, extract(epoch FROM coalesce(oldest, now) + interval '3600 seconds' - now) FROM tally, clock
"""
)
PEEK = TALLY + "SELECT spent, extract(epoch FROM oldest + interval '3600 seconds' - now) FROM tally, clock"


@dataclass(frozen=True, slots=True)
class Usage:
    """One counter at one moment. `reset` is the number of seconds until the next place falls free."""

    counter: str
    limit: int
    remaining: int
    reset: int


@dataclass(slots=True)
class Budget:
    """The hourly counters that one write spends. Without an account (people) it spends nothing."""

    account_id: UUID | None = None
    counters: tuple[str, ...] = ()
    usages: list[Usage] = field(default_factory=list)

    def spend(self) -> None:
        """Spend one of every counter, inside the caller's transaction; raises AgentRateLimited (429).

        The refusal names the counter to wait longest for: then there is a place in every other one too.
        """
        tried = [self._spend(counter) for counter in sorted(self.counters)]
        refused = [usage for usage, spent in tried if not spent]
        if refused:
            longest = max(refused, key=lambda usage: usage.reset)
            refusal = AgentRateLimited(retry_after=longest.reset)
            refusal.headers.update(rate_limit_headers([longest]))
            raise refusal
        self.usages = [usage for usage, _spent in tried]

    def peek(self) -> None:
        """Fill `usages` without spending."""
        self.usages = usages_of(self.account_id, sorted(self.counters)) if self.account_id else []

    def _spend(self, counter: str) -> tuple[Usage, bool]:
        """How the counter stands then, and whether it had a place."""
        limit = settings.HOURLY_LIMITS[counter]
        key = {"account": self.account_id, "counter": counter, "limit": limit}
        execute(LOCK, [str(self.account_id), counter])
        ((spent, seconds),) = fetch_all(SPEND, key)
        had_place = spent < limit
        remaining = limit - spent - 1 if had_place else 0
        return Usage(counter, limit, remaining, _whole_seconds(seconds)), had_place


def usages_of(account_id: UUID, counters: Iterable[str]) -> list[Usage]:
    """How each counter of an account stands now."""
    return [_peek(account_id, counter) for counter in counters]


def rate_limit_headers(usages: Iterable[Usage]) -> dict[str, str]:
    """`RateLimit-Policy`, `RateLimit` (draft-ietf-httpapi-ratelimit-headers): q, r in calls, w, t in seconds."""
    held = list(usages)
    if not held:
        return {}
    return {
        "RateLimit-Policy": ", ".join(f'"{usage.counter}";q={usage.limit};w={WINDOW_SECONDS}' for usage in held),
        "RateLimit": ", ".join(f'"{usage.counter}";r={usage.remaining};t={usage.reset}' for usage in held),
    }


def _peek(account_id: UUID, counter: str) -> Usage:
    limit = settings.HOURLY_LIMITS[counter]
    ((spent, seconds),) = fetch_all(PEEK, {"account": account_id, "counter": counter, "limit": limit})
    return Usage(counter, limit, limit - spent, _whole_seconds(seconds) if spent else 0)


def _whole_seconds(seconds: float) -> int:
    return max(1, min(WINDOW_SECONDS, ceil(seconds)))
