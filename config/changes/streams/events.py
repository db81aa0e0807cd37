"""The bytes of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from config.cache.rendering import to_json
from config.changes import cursors
from config.changes.reading import ChangeRow, Cursor, Position
from config.changes.streams.feeds import Loaded, Source

# What a browser waits before it connects again.
RETRY_MILLISECONDS = 2000


class Chunk(NamedTuple):
    """The events of one read of the log, for all streams of a source. `joined`: all of them."""

    generation: int
    events: Sequence[tuple[Position, bytes]]
    joined: bytes

    @classmethod
    def of(cls, generation: int, events: Sequence[tuple[Position, bytes]]) -> Chunk:
        return cls(generation, events, b"".join(event for _position, event in events))

    @property
    def last(self) -> Cursor:
        return Cursor(self.generation, self.events[-1][0])

    def after(self, cursor: Cursor) -> bytes:
        """The events that a client at `cursor` has not got."""
        if self.generation != cursor.generation or self.events[0][0] > cursor.position:
            return self.joined
        return b"".join(event for position, event in self.events if position > cursor.position)


def greeting(source: Source, cursor: Cursor) -> bytes:
    """The first bytes of a stream. With the cursor, a client that gets no event goes on from here as well."""
    return b"retry: %d\nid: %b\n\n" % (RETRY_MILLISECONDS, _text(cursor, source))


def heartbeat(source: Source, cursor: Cursor) -> bytes:
    """A comment, and the cursor: that of a client without events would expire."""
    return b":\nid: %b\n\n" % _text(cursor, source)


def resync(source: Source, cursor: Cursor) -> Chunk:
    """Changes before `cursor` are no longer stored."""
    text = _text(cursor, source)
    return Chunk.of(cursor.generation, [(cursor.position, _event("resync", text, {"id": text.decode()}))])


def rendered(source: Source, rows: Sequence[ChangeRow], loaded: Mapping[Position, Loaded], generation: int) -> Chunk:
    """The events of rows. `loaded`: what was loaded for each of them."""
    return Chunk.of(
        generation, [(row.position, _rendered(source, row, loaded[row.position], generation)) for row in rows]
    )


def _rendered(source: Source, row: ChangeRow, loaded: Loaded, generation: int) -> bytes:
    text = _text(Cursor(generation, row.position), source)
    return _event(row.type, text, source.feed.item(row, loaded, cursor=text.decode()))


def _event(name: str, cursor: bytes, item: Mapping[str, Any]) -> bytes:
    """JSON has no line breaks, which would end the field."""
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (cursor, name.encode(), to_json(item))


def _text(cursor: Cursor, source: Source) -> bytes:
    return cursors.encode(cursor, bound_to=source.bound_to).encode()
