"""A fixed number of slots for the versions of all cache tags. Tags that share a slot only invalidate each other."""

from __future__ import annotations

import secrets
from zlib import crc32

SLOTS = 65_536
VERSION_BITS = 63


def slot_of(tag: str) -> int:
    """Return the slot of a tag, the same in every process and on every host (Python's own hash is not)."""
    return crc32(tag.encode()) % SLOTS


def new_version() -> int:
    """Return a random number instead of a count: it does not repeat, and writers need no lock."""
    return secrets.randbits(VERSION_BITS)
