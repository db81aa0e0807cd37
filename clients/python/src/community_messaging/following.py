"""Follow a list of events: by its live stream, and by the list itself while there is no stream."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import httpx

from community_messaging.errors import ServiceError
from community_messaging.requests import Request, get
from community_messaging.session import Session
from community_messaging.steps import Item, Open, Pause, Read, Step, Steps

RESUME_SECONDS = 2.0
RESYNC = "resync"
LOST = "cursor_expired"
# Refusals of a stream that do not concern the list.
NO_STREAM = frozenset({"streams_disabled", "too_many_streams"})


@dataclass(frozen=True, slots=True)
class Channel:
    """A list with a cursor that is never null; its stream is at the same path with `/stream`. `items` is its key."""

    path: str
    items: str
    query: dict[str, Any]
    # The keys of an item; that of a lost position has null in all but three.
    keys: tuple[str, ...]

    def request(self, **query: Any) -> Request:
        given = self.query | query
        return replace(get(self.path), query={name: value for name, value in given.items() if value not in (None, "")})

    def resync(self, cursor: str) -> dict[str, Any]:
        return dict.fromkeys(self.keys) | {"id": cursor, "type": RESYNC, "data": {}}


def follow(session: Session, channel: Channel, cursor: str | None, poll_seconds: float) -> Steps[None]:
    """Each item after the cursor (without one: from now), as it happens. Ends with a refusal, never by itself.

    An item of the type `resync` says that earlier ones are no longer stored: read the current state.
    """
    position = cursor or (yield from _cursor_of_now(session, channel))
    while True:
        position, was_open = yield from _stream(session, channel, position)
        position = yield from _poll(session, channel, position)
        yield Pause(RESUME_SECONDS if was_open else poll_seconds)


def _stream(session: Session, channel: Channel, cursor: str) -> Generator[Step, Any, tuple[str, bool]]:
    """Follow the stream until it ends. Returns the last position, and whether the stream was open."""
    origin = yield from _stream_origin(session)
    if not origin:
        return cursor, False
    request = channel.request()
    headers = {"Last-Event-ID": cursor, "Accept": "text/event-stream"}
    request = replace(request, path=f"{channel.path}/stream", headers=headers, is_repeatable=False)
    try:
        yield from session.attempt(request, Open, origin=origin)
    except ServiceError as error:
        # No body: the answer of a proxy or of another program, not a refusal.
        if error.is_passing or error.is_unreachable or error.code in NO_STREAM:
            return cursor, False
        raise
    try:
        while event := (yield Read()):
            is_resync = event.event == RESYNC
            # Before the position moves: an item that cannot be read is listed after the last one that was.
            item = json.loads(event.data) if event.data and not is_resync else None
            cursor = event.id or cursor
            if is_resync:
                yield Item(channel.resync(cursor))
            elif isinstance(item, dict):
                yield Item(item)
    except (httpx.RequestError, ValueError):
        pass  # The connection is cut. The stream continues after the last event that has been read.
    return cursor, True


def _poll(session: Session, channel: Channel, cursor: str) -> Steps[str]:
    """The items of the list up to now. Returns the position after them."""
    try:
        while True:
            request = channel.request(cursor=cursor, limit=100)
            page = yield from session.ask(dict, request, **{channel.items: list}, hasMore=bool, nextCursor=str)
            for item in page[channel.items]:
                yield Item(item)
            cursor = page["nextCursor"]
            if not page["hasMore"]:
                return cursor
    except ServiceError as error:
        if error.code == LOST:
            return (yield from _resync(session, channel, cursor))
        if not (error.is_passing or error.is_unreachable):
            raise
    return cursor


def _resync(session: Session, channel: Channel, lost: str) -> Steps[str]:
    """Go on from now. While the service does not tell where that is, the position stays the lost one."""
    try:
        cursor = yield from _cursor_of_now(session, channel)
    except ServiceError as error:
        if not (error.is_passing or error.is_unreachable):
            raise
        return lost
    yield Item(channel.resync(cursor))
    return cursor


def _cursor_of_now(session: Session, channel: Channel) -> Steps[str]:
    page = yield from session.ask(dict, channel.request(tail="true"), nextCursor=str)
    return str(page["nextCursor"])


def _stream_origin(session: Session) -> Steps[str]:
    """Where the service serves streams; empty if it does not. Asked each time, because it may change."""
    try:
        start = yield from session.ask(dict, replace(get("/"), is_repeatable=False))
    except ServiceError:
        return ""
    origin = start.get("streamUrl")
    # A token that is sent encrypted to the service is not sent in clear to its streams.
    is_downgrade = session.base_url.startswith("https:") and not str(origin).startswith("https:")
    return origin.rstrip("/") if isinstance(origin, str) and not is_downgrade else ""
