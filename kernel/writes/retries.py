"""Runs a transaction again that PostgreSQL has aborted, if another try may succeed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import DatabaseError

from kernel.database.backend.base import STALE_STATEMENT_SQLSTATES
from kernel.database.sql import RETRYABLE_SQLSTATES, is_in_transaction, renew_connection, sqlstate

P = ParamSpec("P")
R = TypeVar("R")

# The longest pause before each further try, in seconds. The conflicting transaction needs time to lock the rows that it
# waits for; pauses are random, so that several aborted transactions do not conflict again.
PAUSES = (0.05, 0.2, 0.8)
RANDOM = random.SystemRandom()


def retried(transaction: Callable[P, R]) -> Callable[P, R]:
    """Decorator of a function that is one transaction: up to three further tries, started within STATEMENT_TIMEOUT.

    Inside another transaction the function runs once, because only the outermost one can be run again.
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
                if not _can_retry(failure, began, RANDOM.uniform(longest / 2, longest)):
                    raise
        return transaction(*args, **kwargs)

    return run


def _can_retry(failure: DatabaseError, began: float, pause: float) -> bool:
    """Pause or open a new connection, and return True; return False if the error is final or time is up."""
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
