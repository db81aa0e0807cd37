"""Exact limits for attempts of anyone, such as passwords: a sliding window in the table of the agents' hourly limits.

An attempt is counted before it is made, so that no number of attempts at once passes a limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from uuid import UUID

from django.conf import settings
from django.db import transaction

from kernel.api import signing
from kernel.api.exceptions import RateLimited
from kernel.database.sql import fetch_all
from kernel.writes.models import RateLimitEvent
from kernel.writes.rate_limits import WINDOW_SECONDS
from kernel.writes.transaction import retried

# Locks the counter until the end of the transaction. The function counts the events of the last hour.
OPEN = """
SELECT spent, next_place FROM api_open_unit(
    NULL, NULL, NULL, %(key)s::uuid, ARRAY[%(name)s]::text[], ARRAY[%(limit)s]::int[], true
)
"""
# An event of another window than an hour is dated so that it leaves the last hour when it leaves its own window.
RECORD = """
INSERT INTO api_ledgerentry (account_id, counter, at)
SELECT %(key)s::uuid, %(name)s, clock_timestamp() + make_interval(secs => %(later)s)
RETURNING id
"""


@dataclass(frozen=True, slots=True)
class Counter:
    """One limit of `settings.ATTEMPT_LIMITS`, and whose attempts it counts."""

    name: str
    who: str

    @property
    def key(self) -> UUID:
        """The table has only this MAC: `who` may be an address, or a password in the field of the handle."""
        digest = signing.mac(settings.SECRET_KEY, "attempts", f"{self.name} {self.who}".encode())
        return UUID(bytes=digest[:16])


@retried
@transaction.atomic
def count(*counters: Counter) -> dict[str, int]:
    """Count one attempt by each counter; returns the ids of the events. Raises RateLimited (429), counting nothing."""
    # In one order for all, so that attempts at once do not wait for each other in a circle.
    return {counter.name: _count(counter) for counter in sorted(counters, key=lambda counter: counter.key)}


def forget(events: list[int]) -> None:
    """Uncount attempts."""
    RateLimitEvent.objects.filter(pk__in=events).delete()


def _count(counter: Counter) -> int:
    limit, seconds = settings.ATTEMPT_LIMITS[counter.name]
    values = {"key": str(counter.key), "name": counter.name, "limit": limit, "later": seconds - WINDOW_SECONDS}
    [(spent, left)] = fetch_all(OPEN, values)
    if spent >= limit:
        raise RateLimited(retry_after=max(1, min(seconds, ceil(left))), counter=counter.name, limit=limit)
    [(event,)] = fetch_all(RECORD, values)
    return int(event)
