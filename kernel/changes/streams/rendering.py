"""Renders the rows of a read for all streams, in a thread with a database connection."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from kernel.changes.rows import ChangeRow, Position
from kernel.changes.streams import events
from kernel.changes.streams.events import Chunk
from kernel.changes.streams.sources import Loaded, Source

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
            event = events.rendered(source, row, loaded[source.items.load].of(row), generation)
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
