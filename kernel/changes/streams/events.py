"""The bytes of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).

Renders the rows of a read for all streams, in a thread with a database connection.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from kernel.cache.rendering import to_json
from kernel.changes import reading
from kernel.changes.rows import ChangeRow, Cursor, Position
from kernel.changes.streams.opening import Loaded, Source

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
    return reading.encode(cursor, bound_to=source.bound_to).encode()


# A chunk ends with the event that reaches this size, so that memory does not depend on the size of posts.
CHUNK_BYTES = 256 * 1024
Load = Callable[[Sequence[ChangeRow]], Loaded]


class Rendered(NamedTuple):
    """The events of each source. `last`: the last row that was rendered if others follow; None: all were."""

    chunks: Mapping[Source, Chunk]
    last: Position | None


def render(matching: Mapping[Source, Sequence[ChangeRow]], generation: int) -> Rendered:
    """Render rows in their order until a chunk is full. Posts are loaded once for all sources that load alike."""
    loaded = _loaded(matching)
    found: dict[Source, list[tuple[Position, bytes]]] = defaultdict(list)
    sizes: dict[Source, int] = defaultdict(int)
    by_position = _by_position(matching)
    for position in sorted(by_position):
        for source, row in by_position[position]:
            event = rendered(source, row, loaded[source.items.load].of(row), generation)
            if not event:
                continue
            found[source].append((position, event))
            sizes[source] += len(event)
        if max(sizes.values(), default=0) >= CHUNK_BYTES:
            return Rendered(_chunks(found, generation), position)
    return Rendered(_chunks(found, generation), None)


class LoadedRows:
    """What the rows need, loaded when it is needed. One call of `load` may serve the first rows only."""

    def __init__(self, load: Load, rows: Sequence[ChangeRow]) -> None:
        self._load, self._rows = load, rows
        self._loaded: dict[Position, Loaded] = {}

    def of(self, row: ChangeRow) -> Loaded:
        """Rows are asked for in their order."""
        if row.position not in self._loaded:
            part = self._load(self._rows)
            self._rows = self._rows[len(part.rows) :]
            self._loaded = dict.fromkeys((each.position for each in part.rows), part)
        return self._loaded[row.position]


def _loaded(matching: Mapping[Source, Sequence[ChangeRow]]) -> dict[Load, LoadedRows]:
    rows_by_load: dict[Load, dict[Position, ChangeRow]] = defaultdict(dict)
    for source, rows in matching.items():
        rows_by_load[source.items.load].update((row.position, row) for row in rows)
    return {
        load: LoadedRows(load, [rows[position] for position in sorted(rows)]) for load, rows in rows_by_load.items()
    }


def _by_position(matching: Mapping[Source, Sequence[ChangeRow]]) -> dict[Position, list[tuple[Source, ChangeRow]]]:
    found: dict[Position, list[tuple[Source, ChangeRow]]] = defaultdict(list)
    for source, rows in matching.items():
        for row in rows:
            found[row.position].append((source, row))
    return found


def _chunks(found: Mapping[Source, Sequence[tuple[Position, bytes]]], generation: int) -> dict[Source, Chunk]:
    return {source: Chunk.of(generation, rendered) for source, rendered in found.items()}
