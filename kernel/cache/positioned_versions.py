"""Versions in Redis with positions in the log of PostgreSQL (`kernel.database.standbys`).

The position of a tag never decreases: of two writers, the later one may set its version first. A writer that does not
know its position makes that of the tag unknown, until a reader asks the primary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from redis import Redis

from kernel.cache.slots import RANDOM_DIGITS, new_version, position_of, slot_of

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
