from __future__ import annotations

import logging
import time

logger = logging.getLogger(__name__)


class CircuitBreaker:
    """Skips Redis for `seconds` after a failure, so that a frozen one costs one time-out and not one per call.

    Callers check `is_open` before a call and `open` the breaker when the call fails. It closes by itself.
    """

    def __init__(self, seconds: float, *, effect: str) -> None:
        self._seconds, self._effect = seconds, effect
        self._open_until = 0.0

    def is_open(self) -> bool:
        return time.monotonic() < self._open_until

    def open(self, error: Exception) -> None:
        """Open for `seconds` from now. Log the error, unless the breaker is open already."""
        if not self.is_open():
            logger.warning("Redis does not answer (%s): %s.", type(error).__name__, self._effect)
        self._open_until = time.monotonic() + self._seconds
