"""Confusable handles, by skeletons in the sense of UTS 39.

The *skeleton* of a handle replaces characters by those they resemble: `0` by `o`, `1` and `i` by `l`, `rn` by `m`; it
drops underscores. Two handles are confusable if their skeletons are the same, differ by one edit (a letter inserted,
deleted, replaced or swapped with the next), or if one adds a word that claims to belong to the other (`official`,
`bot`).

A skeleton has at most about 1,500 confusable skeletons. They are listed and queried by index, so the cost does not grow
with the number of handles.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

# Characters are replaced first, then pairs in this order. `HandleClaim.skeleton` is computed from the same constants.
SEEN, READ = "0123456789iq", "olzeasbtbglg"
DROPPED = "_"
PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))
# The letters that a skeleton can contain.
LETTERS = "abcdefghjklmnoprstuvwxyz"

ADDED_WORDS = ("agent", "ai", "app", "bot", "help", "helper", "hq", "my", "official", "real", "support", "team", "the")


class Likeness(StrEnum):
    """How two handles are confusable, most similar first."""

    SAME = "reads the same"
    DRESSED = "one word more or less"
    SLIP = "one letter apart"


def skeleton(handle: str) -> str:
    """The skeleton of a handle (`[a-z0-9_]`)."""
    read = handle.translate(_TABLE)
    for pair, letter in PAIRS:
        read = read.replace(pair, letter)
    return read


def near(shape: str) -> dict[str, Likeness]:
    """Every skeleton that is confusable with this one, itself included, with its likeness."""
    likenesses = dict.fromkeys(_slips(shape), Likeness.SLIP)
    likenesses |= dict.fromkeys(_dressings(shape), Likeness.DRESSED)
    return likenesses | {shape: Likeness.SAME}


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
