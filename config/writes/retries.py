"""Transactions that PostgreSQL breaks off are run again, where another try may succeed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import DatabaseError

from config.database.backend.base import STALE_STATEMENT_SQLSTATES
from config.database.sql import RETRYABLE_SQLSTATES, is_in_transaction, renew_connection, sqlstate

P = ParamSpec("P")
R = TypeVar("R")

# The longest pause before each further try, in seconds. The transaction that was in the way needs a moment to take the
# rows it waits for, and several that were broken off must not come back together.
PAUSES = (0.05, 0.2, 0.8)
RANDOM = random.SystemRandom()


def retried(transaction: Callable[P, R]) -> Callable[P, R]:
    """For a function that is one whole transaction: up to three further tries, all begun within STATEMENT_TIMEOUT.

    Called inside another transaction it runs once, since only the outermost one can be run again.
    """

    @wraps(transaction)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if is_in_transaction():
            return transaction(*args, **kwargs)
        began = time.monotonic()
        for longest in PAUSES:
            try:
                return transaction(*args, **kwargs)
            except DatabaseError as failure:
                if not _is_ready_again(failure, began, RANDOM.uniform(longest / 2, longest)):
                    raise
        return transaction(*args, **kwargs)

    return run


def _is_ready_again(failure: DatabaseError, began: float, pause: float) -> bool:
    """Whether to try again, once the pause is over or the connection renewed."""
    if sqlstate(failure) in STALE_STATEMENT_SQLSTATES and _has_time(began, 0):
        renew_connection()
        return True
    if sqlstate(failure) not in RETRYABLE_SQLSTATES or not _has_time(began, pause):
        return False
    time.sleep(pause)
    return True


def _has_time(began: float, pause: float) -> bool:
    """STATEMENT_TIMEOUT is in milliseconds; 0 is no limit."""
    return not settings.STATEMENT_TIMEOUT or time.monotonic() + pause < began + settings.STATEMENT_TIMEOUT / 1000
