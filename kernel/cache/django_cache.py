from __future__ import annotations

from typing import Any

from kernel.cache.redis_clients import sentinels

LOCAL_MEMORY = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
# django-redis must raise errors: a circuit breaker handles them.
TIMEOUTS: dict[str, Any] = {"SOCKET_CONNECT_TIMEOUT": 0.1, "SOCKET_TIMEOUT": 0.1}


def caches(redis_url: str) -> dict[str, Any]:
    """The setting CACHES. Redis stores soft throttles and versions of cache tags; both may be lost.

    Without a Redis, Django's cache is not used. Raises ImproperlyConfigured for an address that cannot be read.
    """
    if not redis_url:
        return LOCAL_MEMORY
    found = sentinels(redis_url)
    location, options = redis_url, {**TIMEOUTS}
    if found is not None:
        location = f"redis://{found.master}/{found.db}?is_master=1"
        options |= {
            "CONNECTION_FACTORY": "django_redis.pool.SentinelConnectionFactory",
            "SENTINELS": list(found.hosts),
            "SENTINEL_KWARGS": {"socket_timeout": 0.1, "socket_connect_timeout": 0.1},
            "CONNECTION_POOL_KWARGS": found.credentials,
        }
    return {
        "default": {
            "BACKEND": "django_redis.cache.RedisCache",
            "LOCATION": location,
            "KEY_PREFIX": "cm",
            "OPTIONS": options,
        }
    }
