"""Follows a stream through faults, as a browser does: it connects again after its last event."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable
from http.client import HTTPException
from types import TracebackType
from typing import Self

from tests.remote import Remote
from tests.service import Service
from tests.streams.client import EventStream, open_stream

PAUSE_SECONDS = 0.1
PATIENCE_SECONDS = 30


class Follower:
    """Counts the posts of a page that the stream delivers while the block runs."""

    def __init__(self, service: Service, page_id: str) -> None:
        self.posts: Counter[str] = Counter()
        self._service, self._page_id = service, page_id
        listed = Remote(service.port).call("GET", f"/v1/changes?pageId={page_id}&types=message.created&tail=true")
        self._after: str = listed.json["nextCursor"]
        self._stream: EventStream | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._follow)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, _type: type | None, _error: BaseException | None, _trace: TracebackType | None) -> None:
        self._stopped.set()
        self._thread.join()

    def wait_for(self, posts: Iterable[str]) -> None:
        """Return when all posts have arrived, or after PATIENCE_SECONDS."""
        deadline, expected = time.monotonic() + PATIENCE_SECONDS, set(posts)
        while expected - self.posts.keys() and time.monotonic() < deadline:
            time.sleep(PAUSE_SECONDS)

    def _follow(self) -> None:
        while not self._stopped.is_set():
            try:
                self._read_one_response()
            except (OSError, HTTPException):
                time.sleep(PAUSE_SECONDS)

    def _read_one_response(self) -> None:
        query = {"pageId": self._page_id, "types": "message.created"}
        stream = open_stream(self._service.stream_port, after=self._after, **query)
        try:
            if stream.status != 200:
                time.sleep(PAUSE_SECONDS)
                return
            # A heartbeat comes each second: the loop sees that it is stopped.
            for event in stream.blocks():
                self._after = event.id
                if event.type:
                    self.posts[event.data["messageId"]] += 1
                if self._stopped.is_set():
                    return
        finally:
            stream.close()
