"""Renders the rows of a read for all streams, in a thread with a database connection."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from config.changes.reading import ChangeRow, Position
from config.changes.streams import events
from config.changes.streams.events import Chunk
from config.changes.streams.feeds import Loaded, Source

Load = Callable[[Sequence[ChangeRow]], Loaded]


def render(matching: Mapping[Source, Sequence[ChangeRow]], generation: int) -> dict[Source, Chunk]:
    """The events of each source. Posts are loaded and rendered once for all sources that load alike."""
    rows_by_load: dict[Load, dict[Position, ChangeRow]] = defaultdict(dict)
    for source, rows in matching.items():
        rows_by_load[source.feed.load].update((row.position, row) for row in rows)
    loaded = {load: _load(load, [rows[position] for position in sorted(rows)]) for load, rows in rows_by_load.items()}
    return {
        source: events.rendered(source, rows, loaded[source.feed.load], generation) for source, rows in matching.items()
    }


def _load(load: Load, rows: Sequence[ChangeRow]) -> dict[Position, Any]:
    """What each row needs. One call of `load` may serve the first rows only."""
    loaded: dict[Position, Any] = {}
    while rows:
        part = load(rows)
        loaded.update((row.position, part) for row in part.rows)
        rows = rows[len(part.rows) :]
    return loaded
