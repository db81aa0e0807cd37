"""The exact hourly limits of agents: a sliding window over the last hour, kept in PostgreSQL.

They are locked and counted where a write's unit of work is opened, and spent where it is closed (`config.api.unit`): so
only a write that commits spends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from typing import Any
from uuid import UUID

from django.conf import settings

from config.api.errors import AgentRateLimited
from config.api.sql import fetch_all

# `api_open_unit` knows it as well.
WINDOW_SECONDS = 3600

# How counters stand, one row for each: name, spent, seconds until the next place falls free. Nothing is locked.
COLUMNS = ("counter", "spent", "next_place")
LOOK = f"""
SELECT {", ".join(COLUMNS)} FROM api_open_unit(
    NULL, NULL, NULL, %(account)s::uuid, %(counters)s::text[], %(places)s::int[], false
)
"""
# One entry a counter, part of the last statement of the unit of work.
ENTRIES = """
INSERT INTO api_ledgerentry (account_id, counter, at)
SELECT %(account)s::uuid, counter, clock_timestamp() FROM unnest(%(counters)s::text[]) counter
"""


@dataclass(frozen=True, slots=True)
class Usage:
    """One counter at one moment. `reset` is the number of seconds until the next place falls free."""

    counter: str
    limit: int
    remaining: int
    reset: int

    def after_one(self) -> Usage:
        """Once one more is spent; the first of all falls free after the whole window."""
        return replace(self, remaining=self.remaining - 1, reset=self.reset or WINDOW_SECONDS)


@dataclass
class Budget:
    """The hourly counters that one write spends, in sorted order. Without an account (people) it spends nothing.

    `usages` is how they stand: when the unit of work was opened, and from `require_places` on as if it had spent.
    """

    account_id: UUID | None = None
    counters: tuple[str, ...] = ()
    usages: list[Usage] = field(default_factory=list)

    @cached_property
    def values(self) -> dict[str, Any]:
        """The parameters of this module's statements."""
        account = None if self.account_id is None else str(self.account_id)
        # Arrays as PostgreSQL writes them: the driver takes longer over a list of two than over the statement.
        places = ",".join(str(settings.HOURLY_LIMITS[counter]) for counter in self.counters)
        return {"account": account, "counters": f"{{{','.join(self.counters)}}}", "places": f"{{{places}}}"}

    def tell(self, tallies: Iterable[tuple[str, int, float]]) -> None:
        """How the counters stand: rows as those of LOOK."""
        self.usages = usages_from(tallies)

    def look(self) -> None:
        """How the counters stand now, for an answer that spends nothing; nothing is locked."""
        self.tell(fetch_all(LOOK, self.values) if self.counters else ())

    def require_places(self) -> None:
        """Raises AgentRateLimited (429) where a counter has none left.

        The refusal names the counter to wait longest for: then there is a place in every other one too.
        """
        if len(self.usages) != len(self.counters):
            raise RuntimeError("The unit of work was not opened: nobody knows how its counters stand.")
        refused = [usage for usage in self.usages if not usage.remaining]
        if refused:
            longest = max(refused, key=lambda usage: usage.reset)
            refusal = AgentRateLimited(retry_after=longest.reset)
            refusal.headers.update(rate_limit_headers([longest]))
            raise refusal
        self.usages = [usage.after_one() for usage in self.usages]


def usages_of(account_id: UUID, counters: Iterable[str]) -> list[Usage]:
    """How each counter of an account stands now."""
    budget = Budget(account_id=account_id, counters=tuple(counters))
    budget.look()
    return budget.usages


def usages_from(tallies: Iterable[Sequence[Any]]) -> list[Usage]:
    """From rows as those of LOOK."""
    return [
        Usage(counter, limit, limit - spent, _whole_seconds(seconds) if spent else 0)
        for counter, spent, seconds in tallies
        for limit in (settings.HOURLY_LIMITS[counter],)
    ]


def rate_limit_headers(usages: Iterable[Usage]) -> dict[str, str]:
    """`RateLimit-Policy`, `RateLimit` (draft-ietf-httpapi-ratelimit-headers): q, r in calls, w, t in seconds."""
    held = list(usages)
    if not held:
        return {}
    return {
        "RateLimit-Policy": ", ".join(f'"{usage.counter}";q={usage.limit};w={WINDOW_SECONDS}' for usage in held),
        "RateLimit": ", ".join(f'"{usage.counter}";r={usage.remaining};t={usage.reset}' for usage in held),
    }


def _whole_seconds(seconds: float) -> int:
    return max(1, min(WINDOW_SECONDS, ceil(seconds)))
