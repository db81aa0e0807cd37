"""Perform the steps of calls, with httpx and its asynchronous twin."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from typing import Any, TypeVar

import httpx
from httpx_sse import EventSource, ServerSentEvent

from community_messaging.steps import Item, Open, Pause, Progress, Read, Send, Step, Steps

Result = TypeVar("Result")


class SyncTransport:
    http: httpx.Client

    def run(self, steps: Steps[Result]) -> Result:
        progress = Progress(steps)
        for _ in self._items(progress):
            pass
        result: Result = progress.result
        return result

    def iterate(self, steps: Steps[None]) -> Generator[Any, None, None]:
        return self._items(Progress(steps))

    def _items(self, progress: Progress[Any]) -> Generator[Any, None, None]:
        stream = _SyncStream(self.http)
        try:
            while progress.step is not None:
                if isinstance(progress.step, Item):
                    yield progress.step.value
                    progress.advance(None)
                else:
                    progress.advance(self._outcome(progress.step, stream))
        finally:
            progress.close()
            stream.close()

    def _outcome(self, step: Step, stream: _SyncStream) -> Any:
        try:
            match step:
                case Send(request):
                    return self.http.send(request)
                case Open(request):
                    return stream.open(request)
                case Read():
                    return next(stream.events, None)
                case Pause(seconds):
                    return time.sleep(seconds)
        except httpx.RequestError as error:
            return error


class _SyncStream:
    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self._response: httpx.Response | None = None
        self.events: Iterator[ServerSentEvent] = iter(())

    def open(self, request: httpx.Request) -> httpx.Response:
        self.close()
        self._response = response = self._http.send(request, stream=True)
        if response.is_success:
            self.events = EventSource(response).iter_sse()
        else:
            response.read()
        return response

    def close(self) -> None:
        if self._response:
            self._response.close()


class AsyncTransport:
    http: httpx.AsyncClient

    async def run(self, steps: Steps[Result]) -> Result:
        progress = Progress(steps)
        async for _ in self._items(progress):
            pass
        result: Result = progress.result
        return result

    def iterate(self, steps: Steps[None]) -> AsyncGenerator[Any, None]:
        return self._items(Progress(steps))

    async def _items(self, progress: Progress[Any]) -> AsyncGenerator[Any, None]:
        stream = _AsyncStream(self.http)
        try:
            while progress.step is not None:
                if isinstance(progress.step, Item):
                    yield progress.step.value
                    progress.advance(None)
                else:
                    progress.advance(await self._outcome(progress.step, stream))
        finally:
            progress.close()
            await stream.close()

    async def _outcome(self, step: Step, stream: _AsyncStream) -> Any:
        try:
            match step:
                case Send(request):
                    return await self.http.send(request)
                case Open(request):
                    return await stream.open(request)
                case Read():
                    return await anext(stream.events, None)
                case Pause(seconds):
                    return await asyncio.sleep(seconds)
        except httpx.RequestError as error:
            return error


class _AsyncStream:
    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._response: httpx.Response | None = None
        self.events: AsyncIterator[ServerSentEvent]

    async def open(self, request: httpx.Request) -> httpx.Response:
        await self.close()
        self._response = response = await self._http.send(request, stream=True)
        if response.is_success:
            self.events = EventSource(response).aiter_sse()
        else:
            await response.aread()
        return response

    async def close(self) -> None:
        if self._response:
            await self._response.aclose()
