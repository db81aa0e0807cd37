"""What this process counts in memory, and the functions that the hot paths call."""

from __future__ import annotations

import weakref
from typing import Any, Final

from kernel.metrics.definitions import SECONDS
from kernel.metrics.durations import DurationCounts

# Keys of the WSGI environment: the id of the operation, the status, and the result of the response cache. OUTCOME is
# all three; the response cache notes them in one step.
OPERATION: Final = "community_messaging.operation"
STATUS: Final = "community_messaging.status"
CACHE: Final = "community_messaging.cache"
OUTCOME: Final = "community_messaging.outcome"
Outcome = tuple[str, str, str | None]
# Results of the response cache. A miss is refreshed by its loader, or enters Django.
HIT, REFRESHED, FILLED, NOT_STORED, BYPASSED = "hit", "refreshed", "filled", "not_stored", "bypassed"

# By (operation, status, result of the response cache), and by nothing.
REQUESTS = DurationCounts(SECONDS)
STATEMENTS = DurationCounts(SECONDS)
# psycopg's connections of this process, and the stores of cached responses.
CONNECTIONS: weakref.WeakSet[Any] = weakref.WeakSet()
STORES: weakref.WeakSet[Any] = weakref.WeakSet()
