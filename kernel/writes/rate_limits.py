"""The exact hourly limits of agents: a sliding window over the last hour, recorded in PostgreSQL.

The opening statement of a write locks the limits and counts their events; its last statement inserts the charge
(`kernel.writes.transaction`). Only a write that commits is charged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from math import ceil
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from kernel.api.exceptions import AgentRateLimited
from kernel.database.sql import fetch_all

# `api_open_unit` contains the same number.
WINDOW_SECONDS = 3600

# One row per limit: its name, the events in the window, the seconds until the oldest leaves it. Takes no locks.
COLUMNS = ("counter", "spent", "next_place")
CURRENT = f"""
SELECT {", ".join(COLUMNS)} FROM api_open_unit(
    NULL, NULL, NULL, %(account)s::uuid, %(counters)s::text[], %(places)s::int[], false
)
"""  # noqa: S608  consists of constants
# One event per limit, part of the last statement of a write.
RECORD = """
INSERT INTO api_ledgerentry (account_id, counter, at)
SELECT %(account)s::uuid, counter, clock_timestamp() FROM unnest(%(counters)s::text[]) counter
"""


@dataclass(frozen=True, slots=True)
class RateLimitUsage:
    """The state of a limit. `reset`: seconds until the oldest event leaves the window, which frees one write."""

    name: str
    limit: int
    remaining: int
    reset: int

    @property
    def resets_at(self) -> datetime | None:
        """When the oldest event leaves the window; None without events."""
        return timezone.now() + timedelta(seconds=self.reset) if self.remaining < self.limit else None

    def after_one(self) -> RateLimitUsage:
        """The state after one more write; without other events, that one leaves the window last."""
        return replace(self, remaining=self.remaining - 1, reset=self.reset or WINDOW_SECONDS)


@dataclass
class RateLimitCharge:
    """The hourly limits that a write is charged to, sorted by name; none for people.

    `available` is the state of the limits when the transaction opens. `usages` is the same, and after
    `require_remaining` includes this write.
    """

    account_id: UUID | None = None
    limits: Sequence[str] = ()
    usages: list[RateLimitUsage] = field(default_factory=list)
    available: list[RateLimitUsage] = field(default_factory=list)

    @cached_property
    def values(self) -> dict[str, Any]:
        """The parameters of this module's statements."""
        account = None if self.account_id is None else str(self.account_id)
        # Array literals: for psycopg, adapting a list of two costs more than running the statement.
        maximums = ",".join(str(settings.HOURLY_LIMITS[name]) for name in self.limits)
        return {"account": account, "counters": f"{{{','.join(self.limits)}}}", "places": f"{{{maximums}}}"}

    def load(self, rows: Iterable[Sequence[Any]]) -> None:
        """Set the state of the limits from rows of COLUMNS."""
        self.usages = self.available = usages_from(rows)

    def fetch(self) -> None:
        """Query the state of the limits for a replay, without locks."""
        self.load(fetch_all(CURRENT, self.values) if self.limits else ())

    def require_remaining(self) -> None:
        """Raises AgentRateLimited (429) if a limit is exhausted.

        The refusal names the exhausted limit with the longest `reset`: after it, every limit allows a write.
        """
        if len(self.usages) != len(self.limits):
            raise RuntimeError("The transaction was not opened: the state of its limits is unknown.")
        refused = [usage for usage in self.usages if not usage.remaining]
        if refused:
            longest = max(refused, key=lambda usage: usage.reset)
            refusal = AgentRateLimited(retry_after=longest.reset, counter=longest.name, limit=longest.limit)
            refusal.headers.update(rate_limit_headers([longest]))
            raise refusal
        self.usages = [usage.after_one() for usage in self.usages]


def usages_of(account_id: UUID, limits: Sequence[str]) -> list[RateLimitUsage]:
    """The state of an account's limits."""
    charge = RateLimitCharge(account_id=account_id, limits=limits)
    charge.fetch()
    return charge.usages


def usages_from(rows: Iterable[Sequence[Any]]) -> list[RateLimitUsage]:
    """From rows of COLUMNS."""
    return [
        RateLimitUsage(name, limit, limit - events, _whole_seconds(seconds) if events else 0)
        for name, events, seconds in rows
        for limit in (settings.HOURLY_LIMITS[name],)
    ]


def rate_limit_headers(usages: Sequence[RateLimitUsage]) -> dict[str, str]:
    """`RateLimit-Policy`, `RateLimit` (draft-ietf-httpapi-ratelimit-headers): q, r in calls, w, t in seconds."""
    if not usages:
        return {}
    return {
        "RateLimit-Policy": ", ".join(f'"{usage.name}";q={usage.limit};w={WINDOW_SECONDS}' for usage in usages),
        "RateLimit": ", ".join(f'"{usage.name}";r={usage.remaining};t={usage.reset}' for usage in usages),
    }


def _whole_seconds(seconds: float) -> int:
    return max(1, min(WINDOW_SECONDS, ceil(seconds)))
