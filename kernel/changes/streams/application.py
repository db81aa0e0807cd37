"""The ASGI application of the stream process.

A request passes Django's middlewares and its view in a thread, as in a worker. The view's response describes the
stream, which is then served without a thread.
"""

from __future__ import annotations

import asyncio
import logging
import time
from io import BytesIO
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.base import BaseHandler
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import resolve

from kernel import request_ids
from kernel.api.exception_handler import error_response
from kernel.api.exceptions import ApiError, NotFound, TemporarilyUnavailable
from kernel.api.operations import operation_of
from kernel.changes.streams.delivery import Receive, Send, Stream
from kernel.changes.streams.hub import Hub
from kernel.changes.streams.opening import OpenedStream, Slots, StreamResponse
from kernel.changes.wakeups import Threads
from kernel.metrics.definitions import streams_open
from kernel.metrics.exposition import OPERATION, REQUESTS

# Each opening runs Python code, which only one thread of the process does at a time.
OPENING_THREADS = 2
# Those in which streams read the log, so that openings need not wait for them.
CATCH_UP_THREADS = 2
# How long a request waits at the start of the process until the log is read.
READY_SECONDS = 5.0
EVENT_STREAM = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    # nginx and others would collect events to send many at once.
    "X-Accel-Buffering": "no",
}
REDIRECT_ONLY = frozenset({"location", "content-length", *map(str.lower, EVENT_STREAM)})
logger = logging.getLogger(__name__)


class StreamApplication:
    def __init__(self) -> None:
        self._handler = BaseHandler()
        self._handler.load_middleware()
        self._opening = Threads("opening", count=OPENING_THREADS)
        self._catching_up = Threads("catching up", count=CATCH_UP_THREADS)
        self._slots = Slots()
        self._streams: set[Stream] = set()
        self._is_closing = False
        self._hub = Hub()
        # The hub has ended: streams would get heartbeats and no events. The process has to be started again.
        self.failed = asyncio.Event()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._run_hub(receive, send)
        elif scope["type"] == "http":
            await self._respond(scope, receive, send)

    @property
    def follows_log(self) -> bool:
        return self._hub.ready.is_set() and not self.failed.is_set()

    def close(self) -> None:
        """End all streams, and refuse new ones."""
        self._is_closing = True
        for stream in list(self._streams):
            stream.end()

    async def _run_hub(self, receive: Receive, send: Send) -> None:
        await receive()
        following = asyncio.create_task(self._hub.run())
        await send({"type": "lifespan.startup.complete"})
        shutdown = asyncio.ensure_future(receive())
        await asyncio.wait({following, shutdown}, return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            logger.critical("The hub of the streams has ended", exc_info=following.exception())
            self.failed.set()
            await shutdown
        following.cancel()
        await send({"type": "lifespan.shutdown.complete"})

    async def _respond(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        request = ASGIRequest(scope, BytesIO())
        with request_ids.serving(request.META):
            if not _is_stream(scope["path"]):
                await _send_whole(_refusal(NotFound()), send)
            elif self._is_closing or not await self._is_ready():
                await _send_whole(_refusal(TemporarilyUnavailable()), send)
            else:
                response = await self._opening.run(self._open, request)
                if isinstance(response, StreamResponse) and response.stream is not None:
                    await self._serve(response.stream, response, scope["method"], receive, send)
                else:
                    await _send_whole(response, send)

    async def _is_ready(self) -> bool:
        """Whether the hub has read the log; without PostgreSQL it has not."""
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self._hub.ready.wait()
        except TimeoutError:
            return False
        return True

    def _open(self, request: ASGIRequest) -> HttpResponseBase:
        """In a thread: Django's response to the request."""
        started = time.perf_counter()
        request.stream_slots = self._slots  # type: ignore[attr-defined]  # see `opening.open_stream`
        response = self._handler.get_response(request)
        is_open = isinstance(response, StreamResponse) and response.stream is not None
        status = "200" if is_open else str(response.status_code)
        REQUESTS.add((request.META.get(OPERATION) or "other", status, None), time.perf_counter() - started)
        return response

    async def _serve(
        self, opened: OpenedStream, response: StreamResponse, method: str, receive: Receive, send: Send
    ) -> None:
        stream = Stream(opened, hub=self._hub, threads=self._catching_up, receive=receive, send=send)
        self._streams.add(stream)
        streams_open.set(len(self._streams))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _event_stream_headers(response)})
            if method == "HEAD" or self._is_closing:
                await send({"type": "http.response.body", "body": b""})
            else:
                await stream.run()
        finally:
            self._streams.discard(stream)
            streams_open.set(len(self._streams))
            self._slots.release(opened.slot)


def _refusal(error: ApiError) -> HttpResponse:
    """A refusal without Django's middlewares, which would add its id."""
    response = error_response(error)
    response.headers[request_ids.HEADER] = request_ids.current()
    return response


def _is_stream(path: str) -> bool:
    try:
        operation = operation_of(resolve(path).func, "GET")
    except Http404:
        return False
    return operation is not None and operation.event is not None


def _event_stream_headers(response: StreamResponse) -> list[tuple[bytes, bytes]]:
    """Those of the middlewares, and those of an event stream instead of the redirect's."""
    others = [(name, value) for name, value in response.items() if name.lower() not in REDIRECT_ONLY]
    return _encoded([*EVENT_STREAM.items(), *others])


async def _send_whole(response: HttpResponseBase, send: Send) -> None:
    body = response.content if isinstance(response, HttpResponse) else b"".join(response)
    headers = _encoded([*response.items(), ("Content-Length", str(len(body)))])
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _encoded(headers: list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
