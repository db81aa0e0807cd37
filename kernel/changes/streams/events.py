"""The bytes of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from kernel.cache.rendering import to_json
from kernel.changes import cursors
from kernel.changes.rows import ChangeRow, Cursor, Position
from kernel.changes.streams.sources import Loaded, Source

# What a browser waits before it connects again.
RETRY_MILLISECONDS = 2000


class Chunk(NamedTuple):
    """Consecutive events for all streams of a source. `starts`: where each event begins in `body`.

    The numbers of generations have no order: a restore gives the log a random one.
    """

    generation: int
    positions: Sequence[Position]
    starts: Sequence[int]
    body: bytes
    is_resync: bool = False

    @classmethod
    def of(cls, generation: int, events: Sequence[tuple[Position, bytes]]) -> Chunk:
        positions, bodies = zip(*events, strict=True)
        return cls(generation, positions, [0, *accumulate(map(len, bodies[:-1]))], b"".join(bodies))

    @property
    def last(self) -> Cursor:
        return Cursor(self.generation, self.positions[-1])

    def after(self, cursor: Cursor) -> bytes:
        """The events that a client at `cursor` has not got; `body` itself if it has got none.

        A resync may lead back in the same generation: the row of `cursor` is lost.
        """
        if self.generation != cursor.generation or self.is_resync:
            return self.body if self.last != cursor else b""
        first = bisect_right(self.positions, cursor.position)
        return self.body[self.starts[first] :] if first < len(self.positions) else b""


def greeting(source: Source, cursor: Cursor) -> bytes:
    """The first bytes of a stream. With the cursor, a client that gets no event goes on from here as well."""
    return b"retry: %d\nid: %b\n\n" % (RETRY_MILLISECONDS, _text(cursor, source))


def heartbeat(source: Source, cursor: Cursor) -> bytes:
    """A comment, and the cursor: that of a client without events would expire."""
    return b":\nid: %b\n\n" % _text(cursor, source)


def resync(source: Source, cursor: Cursor) -> Chunk:
    """Changes before `cursor` are no longer stored."""
    text = _text(cursor, source)
    event = _event("resync", text, {"id": text.decode()})
    return Chunk.of(cursor.generation, [(cursor.position, event)])._replace(is_resync=True)


def rendered(source: Source, row: ChangeRow, loaded: Loaded, generation: int) -> bytes:
    """The event of a row; empty if it has no item."""
    text = _text(Cursor(generation, row.position), source)
    item = source.items.render(row, loaded, cursor=text.decode())
    return b"" if item is None else _event(row.type, text, item)


def _event(name: str, cursor: bytes, item: Mapping[str, Any]) -> bytes:
    """JSON has no line breaks, which would end the field."""
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (cursor, name.encode(), to_json(item))


def _text(cursor: Cursor, source: Source) -> bytes:
    return cursors.encode(cursor, bound_to=source.bound_to).encode()
