"""The open streams by their source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from kernel.api.credentials import Credential
from kernel.changes.channels import Channel
from kernel.changes.rows import ChangeRow
from kernel.changes.streams.events import Chunk
from kernel.changes.streams.sources import Source

# What a row is looked up by: ("page", its id), ("account", its id), …
Key = tuple[str, object]


class Subscriber(Protocol):
    """An open stream (`kernel.changes.streams.delivery.Stream`). Its methods never wait."""

    @property
    def source(self) -> Source: ...

    @property
    def credential(self) -> Credential: ...

    def put(self, chunk: Chunk) -> None:
        """Send these events."""

    def end(self) -> None:
        """End the response completely, at once."""

    def cut(self) -> None:
        """End it without its last part."""


class Groups:
    """Finds the sources of a row without a look at all streams."""

    def __init__(self) -> None:
        self._sources: dict[Key, dict[Source, set[Subscriber]]] = defaultdict(dict)

    def __iter__(self) -> Iterator[Subscriber]:
        for sources in self._sources.values():
            for streams in sources.values():
                yield from streams

    def add(self, stream: Subscriber) -> None:
        self._sources[_key_of(stream.source.channel)].setdefault(stream.source, set()).add(stream)

    def discard(self, stream: Subscriber) -> None:
        key = _key_of(stream.source.channel)
        sources = self._sources[key]
        streams = sources.get(stream.source, set())
        streams.discard(stream)
        if not streams:
            sources.pop(stream.source, None)
        if not sources:
            del self._sources[key]

    def streams_of(self, source: Source) -> Sequence[Subscriber]:
        return list(self._sources.get(_key_of(source.channel), {}).get(source, ()))

    def of_page(self, page_id: str) -> Sequence[Subscriber]:
        sources = self._sources.get(("page", page_id), {})
        return [stream for streams in sources.values() for stream in streams]

    def matching(self, rows: Iterable[ChangeRow]) -> dict[Source, list[ChangeRow]]:
        """The sources that include any of the rows, with those rows."""
        found: dict[Source, list[ChangeRow]] = defaultdict(list)
        for row in rows:
            for key in _keys_of(row):
                for source in self._sources.get(key, ()):
                    if source.channel.includes(row):
                        found[source].append(row)
        return dict(found)


def _key_of(channel: Channel) -> Key:
    if channel.account_id is not None:
        return "account", channel.account_id
    if channel.page_id is not None:
        return "page", channel.page_id
    if channel.community_id is not None:
        return "community", channel.community_id
    return "all", None


def _keys_of(row: ChangeRow) -> list[Key]:
    if row.account_id is not None:
        return [("account", row.account_id)]
    return [("page", row.page_id), ("community", row.community_id), ("all", None)]
