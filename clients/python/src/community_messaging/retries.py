"""When a request is sent again."""

from __future__ import annotations

from dataclasses import dataclass
from random import SystemRandom

from community_messaging.errors import ServiceError

LONGEST_PAUSE = 8.0
_random = SystemRandom()


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`attempts` of one call, and the seconds that it may wait between all of them together.

    The pauses double, beginning with `first_pause`.

    A Retry-After beyond `max_wait` is not waited for: the call fails at once with `retry_after`.
    """

    attempts: int = 5
    max_wait: float = 30.0
    first_pause: float = 0.25

    def pause(self, error: ServiceError, *, attempt: int, waited: float) -> float | None:
        """The seconds before the next attempt. None: there is none."""
        if not error.is_passing or attempt >= self.attempts:
            return None
        if error.status == 429 and error.retry_after is None:
            return None  # No time helps, such as with too many pending requests.
        # Random, so that clients that failed together do not come back together.
        backoff = min(self.first_pause * 2 ** (attempt - 1), LONGEST_PAUSE) * _random.uniform(0.5, 1)
        seconds = max(backoff, error.retry_after or 0)
        return seconds if waited + seconds <= self.max_wait else None
