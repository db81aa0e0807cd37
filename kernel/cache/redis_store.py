"""Versions in Redis, which several hosts share.

Versions in Redis with positions in the log of PostgreSQL (`kernel.database.standbys`).

The position of a tag never decreases: of two writers, the later one may set its version first. A writer that does not
know its position makes that of the tag unknown, until a reader asks the primary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock, local
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from kernel.cache.circuit_breaker import CircuitBreaker
from kernel.cache.redis_clients import client
from kernel.cache.shared_memory import RANDOM_DIGITS, RANDOM_END, new_version, position_of, slot_of

# Longer than any response is cached. A version that has expired is replaced by a new one, so Redis does not fill up.
VERSION_TTL_SECONDS = 600
POSITION_DIGITS = 20
UNKNOWN = "0" * POSITION_DIGITS
# Digits of a fixed number, which compare as text: Lua's numbers have 53 bits. KEYS: those of the versions. ARGV: the
# position, the time to live, and a random number for each key.
BUMP = f"""
for number, key in ipairs(KEYS) do
    local position, old = ARGV[1], redis.call('GET', key)
    if old then
        local before = '{UNKNOWN}'
        if #old > {RANDOM_DIGITS} then
            old = string.rep('0', {POSITION_DIGITS + RANDOM_DIGITS} - #old) .. old
            before = string.sub(old, 1, {POSITION_DIGITS})
        end
        if position ~= '{UNKNOWN}' and (before == '{UNKNOWN}' or before > position) then position = before end
    end
    redis.call('SET', key, position .. ARGV[2 + number], 'EX', ARGV[2])
end
"""
# Replaces versions that are still those of ARGV[2], ARGV[4], … by those of ARGV[3], ARGV[5], …
COMPLETE = """
for number, key in ipairs(KEYS) do
    if redis.call('GET', key) == ARGV[2 * number] then
        redis.call('SET', key, ARGV[2 * number + 1], 'EX', ARGV[1])
    end
end
"""


class PositionedVersions:
    def __init__(self, current: Callable[[], int]) -> None:
        """`current` returns the position of the primary, or 0."""
        self.current = current

    def bump(self, keys: Sequence[str], redis: Redis) -> None:
        """Give each key a new version, with the position of now or the one that it has, if that is higher."""
        position = f"{self.current():0{POSITION_DIGITS}}"
        randoms = [f"{new_version():0{RANDOM_DIGITS}}" for _key in keys]
        redis.eval(BUMP, len(keys), *keys, position, VERSION_TTL_SECONDS, *randoms)

    def complete(self, tags: Sequence[str], versions: Sequence[Any], redis: Redis) -> None:
        """Replace versions that have no position, if the primary tells its own."""
        unknown = {key_of(tag): version for tag, version in zip(tags, versions, strict=True) if _is_unknown(version)}
        position = self.current() if unknown else 0
        if not position:
            return
        pairs = [part for version in unknown.values() for part in (version, new_version(position))]
        redis.eval(COMPLETE, len(unknown), *unknown, VERSION_TTL_SECONDS, *pairs)


def key_of(tag: str) -> str:
    return f"cm:version:{slot_of(tag)}"


def _is_unknown(version: bytes | None) -> bool:
    return version is not None and not position_of(int(version))


TIMEOUT_SECONDS = 0.1
# The time-out of a bump while the circuit breaker is open.
SHORT_TIMEOUT_SECONDS = 0.02
BREAKER_SECONDS = 2.0


class RedisVersionStore:
    """While the circuit breaker is open, versions are not read and nothing is cached.

    Bumps that failed are repeated before the next read.
    """

    def __init__(self, url: str, *, position: Callable[[], int] | None = None) -> None:
        """`position` returns that of the primary, where standbys serve reads (`kernel.database.standbys`)."""
        self._positions = None if position is None else PositionedVersions(position)
        self._redis, self._impatient_redis = client(url, TIMEOUT_SECONDS), client(url, SHORT_TIMEOUT_SECONDS)
        self._breaker = CircuitBreaker(BREAKER_SECONDS, effect="responses are not cached")
        self._thread = local()
        self._failed_keys: set[str] = set()
        self._lock = Lock()

    def read(self, tags: tuple[str, ...]) -> tuple[int, ...] | None:
        if self._breaker.is_open():
            return None
        try:
            if self._failed_keys:
                self._set_new_versions(set(self._failed_keys), self._redis)
            return self._read(tags)
        except (RedisError, OSError) as error:
            self._breaker.open(error)
            return None

    def is_available(self) -> bool:
        return not self._breaker.is_open()

    def bump(self, tags: tuple[str, ...]) -> None:
        """Set new versions even while the breaker is open: another process may have reached Redis again, and cache.

        When a frozen Redis resumes, it reads the command from its socket before any later one.
        """
        keys = {key_of(tag) for tag in tags}
        try:
            redis = self._impatient_redis if self._breaker.is_open() else self._redis
            self._set_new_versions(keys | self._failed_keys, redis)
        except (RedisError, OSError) as error:
            self._breaker.open(error)
            with self._lock:
                self._failed_keys |= keys

    def _read(self, tags: tuple[str, ...]) -> tuple[int, ...]:
        versions = self._execute(_mget_command(tags))
        if None in versions:
            versions = self._create_missing(tags)
        numbers = tuple([int(version) for version in versions])
        if self._positions is None or min(numbers) >= RANDOM_END:
            return numbers
        self._positions.complete(tags, versions, self._redis)
        # They count from the next read on: this one does not know whether another process was faster.
        return numbers

    def _execute(self, command: bytes) -> list[Any]:
        """Use a connection of this thread: redis-py's pool takes as long to find one as Redis takes to answer."""
        connection = getattr(self._thread, "connection", None)
        if connection is None:
            connection = self._thread.connection = self._redis.connection_pool.get_connection()
        try:
            connection.send_packed_command([command])
            response: list[Any] = connection.read_response()
        except BaseException:
            # A late response must not be read as the response to the next command. The pool connects again: to another
            # server, if Redis Sentinel names one.
            self._thread.connection = None
            connection.disconnect()
            self._redis.connection_pool.release(connection)
            raise
        return response

    def _create_missing(self, tags: tuple[str, ...]) -> list[Any]:
        """Create versions that Redis lacks, at random: after a flush, an old response must not match again."""
        keys = [key_of(tag) for tag in tags]
        position = 0 if self._positions is None else self._positions.current()
        with self._redis.pipeline(transaction=False) as pipeline:
            for key in keys:
                pipeline.set(key, new_version(position), nx=True, ex=VERSION_TTL_SECONDS)
            pipeline.mget(keys)
            versions: list[Any] = pipeline.execute()[-1]
        return versions

    def _set_new_versions(self, keys: set[str], redis: Redis) -> None:
        if self._positions is not None:
            self._positions.bump(sorted(keys), redis)
        else:
            with redis.pipeline(transaction=False) as pipeline:
                for key in sorted(keys):
                    pipeline.set(key, new_version(), ex=VERSION_TTL_SECONDS)
                pipeline.execute()
        with self._lock:
            self._failed_keys -= keys


@lru_cache(maxsize=10_000)
def _mget_command(tags: tuple[str, ...]) -> bytes:
    """Return the MGET of their versions in the Redis protocol."""
    parts = [b"MGET", *(key_of(tag).encode() for tag in tags)]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
