"""Decides in a view whether a stream is opened, and where.

A view runs in a worker and in the stream process alike. In the stream process the response describes the stream, which
`kernel.changes.streams.application` then serves; in a worker it is a redirect to the stream process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from django.conf import settings

from kernel.api.addresses import client_network
from kernel.api.authentication import bearer_of
from kernel.api.credentials import Credential
from kernel.api.exceptions import InvalidCursor, TemporarilyUnavailable
from kernel.api.fields import CURSOR_MAX, CursorText
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.serializers import QuerySerializer
from kernel.changes import cursors, reading
from kernel.changes.rows import Cursor
from kernel.changes.streams.exceptions import StreamsDisabled, TooManyStreams
from kernel.changes.streams.slots import Slot, Slots
from kernel.changes.streams.sources import Source

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
