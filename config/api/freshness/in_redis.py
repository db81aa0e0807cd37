"""Versions in Redis, where several hosts agree on them."""

from __future__ import annotations

import logging
import time
from functools import lru_cache
from threading import Lock, local
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from config.api.freshness.slots import new_version, slot_of

TIMEOUT_SECONDS = 0.1
# How long a write waits for a Redis that did not answer a moment ago.
HASTY_SECONDS = 0.02
REST_SECONDS = 2.0
# Longer than any answer is kept; a version that went meanwhile is made anew, so Redis fills up with nothing.
LIFE_SECONDS = 600
logger = logging.getLogger(__name__)


class RedisHome:
    """A Redis that does not answer is left alone for a moment: then nothing is kept, and no request waits for it.

    What could not be renewed meanwhile is renewed before anything is read again.
    """

    def __init__(self, url: str) -> None:
        self._redis, self._hasty = _client(url, TIMEOUT_SECONDS), _client(url, HASTY_SECONDS)
        self._asking = local()
        self._resting_until = 0.0
        self._owed: set[str] = set()
        self._lock = Lock()

    def read(self, subjects: tuple[str, ...]) -> tuple[int, ...] | None:
        if self.is_away():
            return None
        try:
            if self._owed:
                self._renew(set(self._owed), self._redis)
            return self._read(subjects)
        except (RedisError, OSError) as failure:
            self._rest(failure)
            return None

    def is_away(self) -> bool:
        return time.monotonic() < self._resting_until

    def renew(self, subjects: tuple[str, ...]) -> None:
        """Tried in any case: while this process rests, another may have found Redis well again, and keep answers.

        One that is frozen finds the command in its socket when it thaws, before whatever is asked of it afterwards.
        """
        keys = {_key(subject) for subject in subjects}
        try:
            self._renew(keys | self._owed, self._hasty if self.is_away() else self._redis)
        except (RedisError, OSError) as failure:
            self._rest(failure)
            with self._lock:
                self._owed |= keys

    def _read(self, subjects: tuple[str, ...]) -> tuple[int, ...]:
        found = self._ask(_question(subjects))
        if None in found:
            found = self._make(subjects)
        return tuple([int(version) for version in found])

    def _ask(self, question: list[bytes]) -> list[Any]:
        """On this thread's own connection: redis-py's client takes as long to find one as Redis to answer."""
        connection = getattr(self._asking, "connection", None)
        if connection is None:
            connection = self._asking.connection = self._redis.connection_pool.get_connection()
        try:
            connection.send_packed_command(question)
            answer: list[Any] = connection.read_response()
        except BaseException:
            # Whatever comes in late must not pass for the answer to the next question.
            connection.disconnect()
            raise
        return answer

    def _make(self, subjects: tuple[str, ...]) -> list[Any]:
        """A flush must not bring an old answer's version back: what is missing gets a new one."""
        keys = [_key(subject) for subject in subjects]
        with self._redis.pipeline(transaction=False) as pipeline:
            for key in keys:
                pipeline.set(key, new_version(), nx=True, ex=LIFE_SECONDS)
            pipeline.mget(keys)
            made: list[Any] = pipeline.execute()[-1]
        return made

    def _renew(self, keys: set[str], redis: Redis) -> None:
        with redis.pipeline(transaction=False) as pipeline:
            for key in sorted(keys):
                pipeline.set(key, new_version(), ex=LIFE_SECONDS)
            pipeline.execute()
        with self._lock:
            self._owed -= keys

    def _rest(self, failure: Exception) -> None:
        if not self.is_away():
            logger.warning("Redis does not answer (%s): nothing is kept.", type(failure).__name__)
        self._resting_until = time.monotonic() + REST_SECONDS


def _client(url: str, seconds: float) -> Redis:
    return Redis.from_url(url, socket_timeout=seconds, socket_connect_timeout=seconds, retry=Retry(NoBackoff(), 0))


def _key(subject: str) -> str:
    return f"cm:version:{slot_of(subject)}"


@lru_cache(maxsize=10_000)
def _question(subjects: tuple[str, ...]) -> list[bytes]:
    """MGET of their versions, as it goes over the wire."""
    words = [b"MGET", *(_key(subject).encode() for subject in subjects)]
    return [b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)]
