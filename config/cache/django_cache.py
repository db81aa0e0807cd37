from __future__ import annotations

from typing import Any

LOCAL_MEMORY = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}


def caches(redis_url: str) -> dict[str, Any]:
    """The setting CACHES. Redis stores soft throttles and versions of cache tags; both may be lost.

    Without a Redis, Django's cache is not used.
    """
    if not redis_url:
        return LOCAL_MEMORY
    return {
        "default": {
            "BACKEND": "django_redis.cache.RedisCache",
            "LOCATION": redis_url,
            "KEY_PREFIX": "cm",
            # django-redis must raise errors: a circuit breaker handles them.
            "OPTIONS": {"SOCKET_CONNECT_TIMEOUT": 0.1, "SOCKET_TIMEOUT": 0.1},
        }
    }
