"""A fixed number of slots for the versions of all cache tags. Tags that share a slot only invalidate each other."""

from __future__ import annotations

import secrets
from zlib import crc32

SLOTS = 65_536
VERSION_BITS = 63
RANDOM_DIGITS = 19
RANDOM_END: int = 10**RANDOM_DIGITS


def slot_of(tag: str) -> int:
    """Return the slot of a tag, the same in every process and on every host (Python's own hash is not)."""
    return crc32(tag.encode()) % SLOTS


def new_version(position: int = 0) -> int:
    """Return a random number instead of a count: it does not repeat, and writers need no lock.

    The digits above it are a position in the log of PostgreSQL (`kernel.database.standbys`): a read that has it sees
    all writes that this version, and those before it, were given for.
    """
    return position * RANDOM_END + secrets.randbits(VERSION_BITS)


def position_of(version: int) -> int:
    """0 is an unknown position."""
    return version // RANDOM_END
