"""Waits for conditions. A machine may be busy: no test fails because a condition holds late."""

from __future__ import annotations

import time
from collections.abc import Callable

# How long a test waits for what must happen. Only a test that fails waits as long.
PATIENCE_SECONDS = 240.0
# The lock timeout of the connections of the tests, instead of 2 seconds.
LOCK_TIMEOUT_SECONDS = 30
# How often a duration is measured: a machine may be busy during one attempt, but not during all of them. So only the
# duration may differ: what an attempt does besides must be right each time.
ATTEMPTS = 4


def eventually(holds: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> bool:
    """Wait until the condition holds; return False if it does not."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def takes_less_than(seconds: float, work: Callable[[], object]) -> bool:
    """Whether one of some attempts takes less than this."""
    return any(_duration(work) < seconds for _ in range(ATTEMPTS))


def _duration(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began
