"""Decides in a view whether a stream is opened, and where.

A view runs in a worker and in the stream process alike. In the stream process the response describes the stream, which
`kernel.changes.streams.application` then serves; in a worker it is a redirect to the stream process.

Counts the open streams of each client address and of each token, in the one process that serves streams.

What a stream delivers: the rows of a channel, as items.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol

from django.conf import settings

from kernel.api.addresses import client_network
from kernel.api.authentication import bearer_of
from kernel.api.context import ApiRequest
from kernel.api.credentials import Credential
from kernel.api.exceptions import Forbidden, InvalidCursor, RateLimited, TemporarilyUnavailable
from kernel.api.fields import CURSOR_MAX, CursorText
from kernel.api.requests import Response
from kernel.api.serializers import QuerySerializer
from kernel.changes import reading
from kernel.changes import reading as cursors
from kernel.changes.channels import Channel
from kernel.changes.rows import ChangeRow, Cursor

# A slot is free when another stream ends; no time of that is known.
RETRY_AFTER_SECONDS = 30


class StreamsDisabled(Forbidden):
    default_code = "streams_disabled"
    message = "Poll the list of the same changes instead: this service has no streams."
    cause = "The service runs with `STREAMS=0`."
    remedy = "GET /v1/changes and GET /v1/inbox return the same items, from a cursor."


class TooManyStreams(RateLimited):
    """429: the address or the token has too many open streams."""

    default_code = "too_many_streams"
    message = "Close one of your streams, or wait {retryAfter} s: {limit} may be open at a time."
    cause = "The client address or the token has as many open streams as are allowed (`counter` tells which)."
    remedy = "One stream can follow many pages: filter by type or community, or read all changes."
    example = {"counter": "address", "limit": 20}

    def __init__(self, *, counter: str, limit: int) -> None:
        super().__init__(retry_after=RETRY_AFTER_SECONDS, counter=counter, limit=limit)


Slot = tuple[tuple[str, str], ...]


class Slots:
    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        # Streams are opened in threads.
        self._lock = threading.Lock()

    def take(self, *, address: str, token: str) -> Slot:
        """Count one stream; raises TooManyStreams (429). An empty `token` is not counted."""
        slot = (("address", address), *([("token", token)] if token else []))
        limits = {"address": settings.STREAMS_PER_ADDRESS, "token": settings.STREAMS_PER_TOKEN}
        with self._lock:
            for key in slot:
                if self._counts[key] >= limits[key[0]]:
                    raise TooManyStreams(counter=key[0], limit=limits[key[0]])
            self._counts.update(slot)
        return slot

    def release(self, slot: Slot) -> None:
        with self._lock:
            self._counts.subtract(slot)
            for key in slot:
                if not self._counts[key]:
                    del self._counts[key]


class Loaded(Protocol):
    """What items need from other tables. `rows`: the rows that it was loaded for, all or the first ones."""

    @property
    def rows(self) -> Sequence[ChangeRow]: ...


class RenderItem(Protocol):
    def __call__(self, row: ChangeRow, loaded: Any, /, *, cursor: str) -> dict[str, Any] | None:
        """The item of a row; None if the reader does not get it."""


@dataclass(frozen=True, slots=True)
class Items:
    """How rows become the items that the list and the stream of the same changes have in common."""

    load: Callable[[Sequence[ChangeRow]], Loaded]
    render: RenderItem


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a stream's events. Streams of equal sources get the same bytes.

    `bound_to` is what the cursors are signed with (`kernel.api.pagination.bound_to`).
    """

    items: Items
    channel: Channel
    bound_to: str


LAST_EVENT_ID = "Last-Event-ID"
# The refusals of every stream.
STREAM_ERRORS = (InvalidCursor, StreamsDisabled, TooManyStreams)


class StreamQuery(QuerySerializer):
    """The query parameters of every stream."""

    cursor = CursorText(
        required=False, help_text="The `id` of an event, or `nextCursor` of the list. Without it: from now."
    )


@dataclass(frozen=True, slots=True)
class OpenedStream:
    """A stream to serve. `start`: the events after this cursor."""

    source: Source
    start: Cursor
    credential: Credential
    slot: Slot


class StreamResponse(Response):
    """A redirect to the stream process, which serves `stream` instead."""

    stream: OpenedStream | None = None

    def __init__(self, path: str) -> None:
        location = {"Location": f"{settings.STREAM_URL}{path}", "Cache-Control": "no-store"}
        super().__init__({"streamUrl": settings.STREAM_URL}, status=307, headers=location)


def open_stream(request: ApiRequest, query: Mapping[str, Any], source: Source) -> Response:
    """The response to a request for a stream. Raises the STREAM_ERRORS."""
    if settings.STREAM_URL is None:
        raise StreamsDisabled
    start = _start(request, query, source)
    slots: Slots | None = getattr(request._request, "stream_slots", None)
    if slots is None and settings.STREAM_URL == settings.BASE_URL:
        # The proxy in front of both processes has passed this request to the wrong one: a redirect would be a loop.
        raise TemporarilyUnavailable
    response = StreamResponse(request.get_full_path())
    if slots is not None:
        start = start or reading.now()
        slot = slots.take(address=client_network(request._request), token=_token_of(request))
        response.stream = OpenedStream(source, start, request.auth, slot)
    return response


def _start(request: ApiRequest, query: Mapping[str, Any], source: Source) -> Cursor | None:
    """The cursor of the request. A client that reconnects repeats its URL: the header is newer than the parameter."""
    cursor: str | None = request.headers.get(LAST_EVENT_ID) or query.get("cursor")
    if cursor is None:
        return None
    if len(cursor) > CURSOR_MAX:
        raise InvalidCursor
    return cursors.decode(cursor, bound_to=source.bound_to)


def _token_of(request: ApiRequest) -> str:
    """A digest of the credential's token, however the header spells it.

    The signature, the last part of a JWT, can be written in several ways.
    """
    token = bearer_of(request._request) or ""
    signed = token.rpartition(".")[0] or token
    return blake2b(signed.encode(), digest_size=16).hexdigest() if token else ""
