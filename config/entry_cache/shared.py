"""Answers that one worker has made, for the others of its host, in a file that all of them map.

A write makes an answer worthless in every worker at once; here only one of them has to make it anew. A key has one slot
by its hash, which belongs to whoever wrote to it last. Nobody locks: what is read half written has the wrong checksum,
and counts as nothing; and if two set out to make the same answer, both make it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from hashlib import blake2b
from struct import Struct
from zlib import crc32

import orjson

from config.api.freshness import Watched
from config.entry_cache.memory import Kept, Key

SLOTS = 256
# Room for a list of twenty long posts with their top replies.
SLOT_BYTES = 131_072
NUMBER_BYTES = 8
MARK_BITS = 16
MARK = (1 << MARK_BITS) - 1
SIZE = SLOTS * (NUMBER_BYTES + SLOT_BYTES)
# Checksum and length of all that follows.
HEAD = Struct("=II")
# Whose answer it is, and the length of its description, which the body follows.
LABEL = Struct("=16sI")
# How long others wait for a process that set out to make an answer; one that died then does not hold them up.
CLAIM_SECONDS = 0.05
LOOK_SECONDS = 0.0005


class SharedAnswers:
    """Whoever gets nothing from `find_or_claim` makes the answer, and ends with `release`, with or without `give`.

    `memory`: SIZE bytes that all workers see. `seconds`: how long an answer is kept.
    """

    def __init__(self, memory: memoryview, *, seconds: float) -> None:
        self._memory, self._seconds = memory, seconds
        # Who set out to fill each slot, and when; see _Place.claim.
        self._claims = memory[: SLOTS * NUMBER_BYTES].cast("Q")

    def find_or_claim(self, key: Key) -> Kept | None:
        """What another process has made, or is just making and is waited for; None leaves it to the caller."""
        place, deadline = _Place.of(key), time.monotonic() + CLAIM_SECONDS
        while (kept := self._find(place)) is None:
            if not place.is_claimed(self._claims[place.slot]) or time.monotonic() > deadline:
                self._claims[place.slot] = place.claim()
                break
            time.sleep(LOOK_SECONDS)
        return kept

    def give(self, key: Key, kept: Kept) -> None:
        """Leave an answer to the others; one that is too large stays one's own."""
        place, watched = _Place.of(key), kept.watched
        description = orjson.dumps(
            (watched.subjects, watched.versions, kept.until, kept.status, kept.headers, kept.etag)
        )
        content = LABEL.pack(place.owner, len(description)) + description + kept.body
        entry = HEAD.pack(crc32(content), len(content)) + content
        if len(entry) <= SLOT_BYTES:
            self._memory[place.start : place.start + len(entry)] = entry

    def release(self, key: Key) -> None:
        self._claims[_Place.of(key).slot] = 0

    def _find(self, place: _Place) -> Kept | None:
        checksum, length = HEAD.unpack_from(self._memory, place.start)
        start = place.start + HEAD.size
        content = bytes(self._memory[start : min(start + length, place.end)])
        if crc32(content) != checksum or not content.startswith(place.owner):
            return None
        body = LABEL.size + LABEL.unpack_from(content)[1]
        try:
            subjects, versions, until, status, headers, etag = orjson.loads(content[LABEL.size : body])
        except (ValueError, TypeError):
            # Another release of this program wrote it.
            return None
        watched = Watched(tuple(subjects), tuple(versions))
        kept = Kept(watched, until, status, [(name, value) for name, value in headers], content[body:], etag)
        # What was left before the host was started anew may bear a time far ahead.
        return kept if until <= time.monotonic() + self._seconds and kept.holds() else None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the answer of a key stands, and the mark of the key."""

    slot: int
    owner: bytes

    @classmethod
    def of(cls, key: Key) -> _Place:
        owner = blake2b("\n".join(key).encode(errors="surrogatepass"), digest_size=16).digest()
        return cls(int.from_bytes(owner[:NUMBER_BYTES], "big") % SLOTS, owner)

    def claim(self) -> int:
        """Microseconds of the host's clock, which its processes share; a mark of the key in the last 16 bits."""
        return time.monotonic_ns() // 1000 << MARK_BITS | self._mark

    def is_claimed(self, claim: int) -> bool:
        microseconds = time.monotonic_ns() // 1000 - (claim >> MARK_BITS)
        return claim & MARK == self._mark and 0 <= microseconds < CLAIM_SECONDS * 1e6

    @property
    def _mark(self) -> int:
        return int.from_bytes(self.owner[-2:], "big")

    @property
    def start(self) -> int:
        return SLOTS * NUMBER_BYTES + self.slot * SLOT_BYTES

    @property
    def end(self) -> int:
        return self.start + SLOT_BYTES
