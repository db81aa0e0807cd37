"""Soft throttles: approximate limits against floods.

Counters are in Redis, or without it (and for reads always, which are many) in memory that the processes of one host
share. Throttles fail open: while Redis is unavailable, every request passes. A circuit breaker skips Redis for a few
seconds after a failure, so that a frozen one does not cost a time-out per request.
"""

from __future__ import annotations

import time
from functools import cache
from math import ceil

from django.conf import settings
from django.core.cache import cache as redis
from django.http import HttpRequest

from kernel.api.addresses import remote_network
from kernel.api.exceptions import RateLimited
from kernel.cache.circuit_breaker import CircuitBreaker
from kernel.cache.counters import SharedCounters

READ = "read"
OVER_MAX = 10_000
_breaker = CircuitBreaker(5.0, effect="calls pass the soft throttles")
# {(name, who): window} in which this process counted the limit.
_over: dict[tuple[str, str], int] = {}


def hit(name: str, who: str) -> None:
    """Count one request of `who` against the throttle `name`; raises RateLimited (429) over its rate."""
    limit, seconds = settings.SOFT_THROTTLES[name]
    slot, left = _slot(seconds)
    if _count(name, f"throttle:{name}:{who}:{slot}", seconds) > limit:
        raise RateLimited(retry_after=left, counter=name, limit=limit)


def note(name: str, who: str) -> None:
    """Count one request without refusing it."""
    limit, seconds = settings.SOFT_THROTTLES[name]
    slot, _left = _slot(seconds)
    if _count(name, f"throttle:{name}:{who}:{slot}", seconds) >= limit:
        if len(_over) >= OVER_MAX:
            _over.clear()
        _over[name, who] = slot


def check(name: str, who: str) -> None:
    """Raises RateLimited (429) if `note` has counted the limit in this process. Does not query the counters."""
    limit, seconds = settings.SOFT_THROTTLES[name]
    slot, left = _slot(seconds)
    if not limit or _over.get((name, who)) == slot:
        raise RateLimited(retry_after=left, counter=name, limit=limit)


def hit_read(request: HttpRequest, name: str = READ) -> None:
    """Count one read of a remote client against the throttle `name`; raises RateLimited (429) over its rate.

    Clients on this machine are not counted: behind a local proxy that is not in TRUSTED_PROXIES, all readers would
    share one count.
    """
    network = remote_network(request)
    if network is not None:
        hit(name, network)


def _slot(seconds: int) -> tuple[int, int]:
    """The number of the current window, and the seconds until the next one."""
    now = time.time()
    return int(now // seconds), ceil(seconds - now % seconds)


@cache
def shared_counters() -> SharedCounters:
    return SharedCounters(settings.DATA_DIR / "throttles", settings.SECRET_KEY)


def _count(name: str, key: str, seconds: int) -> int:
    if name == READ or not settings.REDIS_URL:
        return shared_counters().increment(key, seconds)
    if _breaker.is_open():
        return 0
    try:
        return _increment(key, seconds)
    except Exception as error:  # noqa: BLE001  the cache backends share no error class
        _breaker.open(error)
        return 0


def _increment(key: str, seconds: int) -> int:
    try:
        return int(redis.incr(key))
    except ValueError:
        if redis.add(key, 1, timeout=seconds):
            return 1
        return int(redis.incr(key))
