"""Versions in Redis, where several hosts agree on them."""

from __future__ import annotations

import logging
import time
from threading import Lock
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from config.api.freshness.slots import new_version, slot_of

TIMEOUT_SECONDS = 0.1
REST_SECONDS = 2.0
# Longer than any answer is kept; a version that went meanwhile is made anew, so Redis fills up with nothing.
LIFE_SECONDS = 600
logger = logging.getLogger(__name__)


class RedisHome:
    """A Redis that does not answer is left alone for a moment: then nothing is kept, and no request waits for it.

    What could not be renewed meanwhile is renewed before anything is read again.
    """

    def __init__(self, url: str) -> None:
        self._redis = Redis.from_url(
            url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS, retry_on_timeout=False
        )
        self._resting_until = 0.0
        self._owed: set[str] = set()
        self._lock = Lock()

    def read(self, subjects: tuple[str, ...]) -> tuple[int, ...] | None:
        if time.monotonic() < self._resting_until:
            return None
        try:
            if self._owed:
                self._renew(self._owed)
            return tuple(self._read([_key(subject) for subject in subjects]))
        except (RedisError, OSError) as failure:
            self._rest(failure)
            return None

    def renew(self, subjects: tuple[str, ...]) -> None:
        keys = {_key(subject) for subject in subjects}
        try:
            if time.monotonic() >= self._resting_until:
                self._renew(keys | self._owed)
                return
        except (RedisError, OSError) as failure:
            self._rest(failure)
        with self._lock:
            self._owed |= keys

    def _read(self, keys: list[str]) -> list[int]:
        found: list[Any] = self._redis.mget(keys)
        if None in found:
            # A flush must not bring an old answer's version back: what is missing gets a new one.
            with self._redis.pipeline(transaction=False) as pipeline:
                for key in keys:
                    pipeline.set(key, new_version(), nx=True, ex=LIFE_SECONDS)
                pipeline.mget(keys)
                found = pipeline.execute()[-1]
        return [int(version) for version in found]

    def _renew(self, keys: set[str]) -> None:
        with self._redis.pipeline(transaction=False) as pipeline:
            for key in sorted(keys):
                pipeline.set(key, new_version(), ex=LIFE_SECONDS)
            pipeline.execute()
        with self._lock:
            self._owed -= keys

    def _rest(self, failure: Exception) -> None:
        self._resting_until = time.monotonic() + REST_SECONDS
        logger.warning("Redis does not answer (%s): nothing is kept for %s s.", type(failure).__name__, REST_SECONDS)


def _key(subject: str) -> str:
    return f"cm:version:{slot_of(subject)}"
