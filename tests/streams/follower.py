"""Follow a page through faults: by its stream as a browser does, and by its list as a client without streams does."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from http.client import HTTPException
from types import TracebackType
from typing import Self

from tests.remote import Remote
from tests.service import Service
from tests.streams.client import open_stream
from tests.waiting import PATIENCE_SECONDS

PAUSE_SECONDS = 0.1
TYPES = "types=message.created"


class Follower(threading.Thread):
    """Notes the posts of a page, in the order in which they arrive while the block runs."""

    def __init__(self, service: Service, page_id: str) -> None:
        super().__init__()
        self.posts: list[str] = []
        self._service, self._page_id = service, page_id
        self._path = f"/v1/changes?pageId={page_id}&{TYPES}"
        self._first = self._after = self._listed("&tail=true")[1]
        self._stopped = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, _type: type | None, _error: BaseException | None, _trace: TracebackType | None) -> None:
        self._stopped.set()
        self.join()

    def wait_for(self, posts: Iterable[str]) -> None:
        """Return when all posts have arrived, or after PATIENCE_SECONDS."""
        deadline, expected = time.monotonic() + PATIENCE_SECONDS, set(posts)
        while expected - set(self.posts) and time.monotonic() < deadline:
            time.sleep(PAUSE_SECONDS)

    def is_in_order(self) -> bool:
        """Whether the posts have the order of the log, without a gap, as read once after all faults."""
        stored: list[str] = []
        after, has_more = self._first, True
        while has_more:
            posts, after, has_more = self._listed(f"&limit=100&cursor={after}")
            stored += posts
        # The log may go on meanwhile.
        return stored[: len(self.posts)] == self.posts

    def run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._read_on()
            except (OSError, HTTPException, AssertionError):
                time.sleep(PAUSE_SECONDS)

    def _read_on(self) -> None:
        raise NotImplementedError

    def _listed(self, query: str) -> tuple[list[str], str, bool]:
        """(the posts of one response, the cursor after them, whether others follow)."""
        remote = Remote(self._service.port)
        reply = remote.call("GET", f"{self._path}{query}")
        remote.close()
        assert reply.status == 200, reply
        return [each["messageId"] for each in reply.json["changes"]], reply.json["nextCursor"], reply.json["hasMore"]


class StreamFollower(Follower):
    """Connects again after its last event."""

    def _read_on(self) -> None:
        query = {"pageId": self._page_id, "types": "message.created"}
        stream = open_stream(self._service.stream_port, after=self._after, **query)
        try:
            assert stream.status == 200
            # A heartbeat comes each second: the loop sees that it is stopped.
            for event in stream.blocks():
                self._after = event.id
                if event.type:
                    self.posts.append(event.data["messageId"])
                if self._stopped.is_set():
                    return
        finally:
            stream.close()


class ListFollower(Follower):
    """Reads the list again and again."""

    def _read_on(self) -> None:
        posts, self._after, has_more = self._listed(f"&cursor={self._after}")
        self.posts += posts
        if not has_more:
            time.sleep(PAUSE_SECONDS)
