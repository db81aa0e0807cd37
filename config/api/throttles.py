"""Soft throttles: they slow down floods, they guard no promise.

They live in the Django cache and fail open: with the cache away, every call passes. A cache that does not answer is
left alone for a few seconds, so that a frozen Redis costs one time-out and not one a call.
"""

from __future__ import annotations

import logging
import time
from ipaddress import ip_address, ip_network
from math import ceil

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

from config.api.errors import RateLimited

logger = logging.getLogger(__name__)
REST_SECONDS = 5.0
OVER_MAX = 10_000
_resting_until = 0.0
# The window in which this process saw somebody at a rate.
_over: dict[tuple[str, str], int] = {}


def hit(name: str, who: str) -> None:
    """Count one call of `who` against the throttle `name`; raises RateLimited (429) over its rate."""
    limit, seconds = settings.SOFT_THROTTLES[name]
    slot, left = _slot(seconds)
    if _count(f"throttle:{name}:{who}:{slot}", seconds) > limit:
        raise RateLimited(retry_after=left)


def note(name: str, who: str) -> None:
    """Count one call without refusing it."""
    limit, seconds = settings.SOFT_THROTTLES[name]
    slot, _left = _slot(seconds)
    if _count(f"throttle:{name}:{who}:{slot}", seconds) >= limit:
        if len(_over) >= OVER_MAX:
            _over.clear()
        _over[name, who] = slot


def check(name: str, who: str) -> None:
    """Refuse `who` once a note of this process has found it at the rate; other calls cost no look at the cache."""
    limit, seconds = settings.SOFT_THROTTLES[name]
    slot, left = _slot(seconds)
    if not limit or _over.get((name, who)) == slot:
        raise RateLimited(retry_after=left)


def client_address(request: HttpRequest) -> str:
    """The peer's address; `X-Forwarded-For` counts only where the peer is a proxy named in TRUSTED_PROXIES."""
    address = str(request.META.get("REMOTE_ADDR", ""))
    for hop in reversed(request.headers.get("X-Forwarded-For", "").split(",")):
        if not _is_trusted(address) or not hop.strip():
            break
        address = hop.strip()
    return address


def client_network(request: HttpRequest) -> str:
    """Whom a throttle counts: the client's address, of IPv6 the /64 around it, all of which one client is given."""
    address = client_address(request)
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if found.version == 4 or found.ipv4_mapped:
        return str(found if found.version == 4 else found.ipv4_mapped)
    return str(ip_network((int(found) >> 64 << 64, 64)))


def _is_trusted(address: str) -> bool:
    if not settings.TRUSTED_PROXIES:
        return False
    try:
        peer = ip_address(address)
        # A socket that listens on `::` tells IPv4 peers as ::ffff:192.0.2.1.
        peer = getattr(peer, "ipv4_mapped", None) or peer
    except ValueError:
        # A unix socket has no address; only a proxy on this host can be behind it.
        return not address
    return any(peer in ip_network(network, strict=False) for network in settings.TRUSTED_PROXIES)


def _slot(seconds: int) -> tuple[int, int]:
    """The number of the window it is now, and the seconds until the next."""
    now = time.time()
    return int(now // seconds), ceil(seconds - now % seconds)


def _count(key: str, seconds: int) -> int:
    try:
        return _awake() and _increment(key, seconds)
    except Exception as failure:  # noqa: BLE001  the cache backends share no error class
        _rest(failure)
        return 0


def _increment(key: str, seconds: int) -> int:
    try:
        return int(cache.incr(key))
    except ValueError:
        if cache.add(key, 1, timeout=seconds):
            return 1
        return int(cache.incr(key))


def _awake() -> bool:
    return time.monotonic() >= _resting_until


def _rest(failure: Exception) -> None:
    global _resting_until  # noqa: PLW0603  one clock a process
    _resting_until = time.monotonic() + REST_SECONDS
    logger.warning("The cache does not answer (%s): no soft throttles for %s s.", type(failure).__name__, REST_SECONDS)
