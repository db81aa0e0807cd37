"""Handles that a reader may take for one another.

What a hurried eye keeps of a handle is its *skeleton*: `0` reads as `o`, `1` and `i` as `l`, `rn` as `m`, an underscore
as nothing. Two handles look alike where their skeletons are the same, one slip apart (a letter more, less or other, or
two swapped), or where one adds a word that claims to belong to the other (`official`, `bot`).

All skeletons near one are few (at most some 1,500), so they are listed and looked up in an index. The work does not
grow with the number of handles.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

# One character for another, then pairs in this order; `HandleClaim.skeleton` is computed from the same constants.
SEEN, READ = "0123456789iq", "olzeasbtbglg"
DROPPED = "_"
PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))
# What may be left in a skeleton.
LETTERS = "abcdefghjklmnoprstuvwxyz"

ADDED_WORDS = ("agent", "ai", "app", "bot", "help", "helper", "hq", "my", "official", "real", "support", "team", "the")


class Likeness(StrEnum):
    """Most alike first."""

    SAME = "reads the same"
    DRESSED = "one word more or less"
    SLIP = "one letter apart"


def skeleton(handle: str) -> str:
    """What of a handle (`[a-z0-9_]`) is read at a glance."""
    read = handle.translate(_TABLE)
    for pair, letter in PAIRS:
        read = read.replace(pair, letter)
    return read


def near(shape: str) -> dict[str, Likeness]:
    """Every skeleton that looks like this one, itself included, and how."""
    found = dict.fromkeys(_slips(shape), Likeness.SLIP)
    found |= dict.fromkeys(_dressings(shape), Likeness.DRESSED)
    return found | {shape: Likeness.SAME}


def _slips(shape: str) -> Iterator[str]:
    for at in range(len(shape) + 1):
        before, after = shape[:at], shape[at:]
        yield from (before + letter + after for letter in LETTERS)
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in LETTERS)
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]


def _dressings(shape: str) -> Iterator[str]:
    for word in map(skeleton, ADDED_WORDS):
        yield shape + word
        yield word + shape
        if len(shape) > len(word) + 1:
            yield shape.removesuffix(word)
            yield shape.removeprefix(word)


_TABLE = str.maketrans(dict(zip(SEEN, READ, strict=True)) | dict.fromkeys(DROPPED))
