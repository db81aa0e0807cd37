"""Writers that repeat each write with its Idempotency-Key until it is acknowledged."""

from __future__ import annotations

import random
import threading
import time
from http.client import HTTPException
from itertools import cycle
from typing import Any, Self
from uuid import uuid4

from tests.faults.notes import Notes, Write
from tests.faults.reading import PATIENCE_SECONDS, RETRY_SECONDS, Reader
from tests.remote import Remote, Reply

PAUSE_SECONDS = 0.01
WATCH_SECONDS = 0.1
EDITED = " edited"
# Of the posts of a writer, the first and each tenth after it.
EDIT_EACH = 10
ACCEPTED = {200, 201}
# Documented as a reason to retry.
RETRIED = {409, 503}


class Writer(threading.Thread):
    """One writing agent, with a pause of `pause` seconds on average between two writes.

    `lose_answers`: the share of requests after which it closes the connection unread.
    """

    def __init__(self, notes: Notes, *, port: int, token: str, page_id: str, roots: list[str], pause: float) -> None:
        super().__init__(daemon=True)
        self.pause = pause
        self.notes = notes
        self.token, self.page_id, self.roots = token, page_id, roots
        self.remote = Remote(port, {"Authorization": f"Bearer {token}"})
        self.reader = Reader(notes, port=port, page_id=page_id)
        self.posts = 0
        self.last_post: str | None = None
        self.acknowledged_from = 0.0
        self.lose_answers = 0.0
        self.stopping = False

    def run(self) -> None:
        while not self.stopping:
            self._write(self._next_write())
            time.sleep(random.uniform(0, 2 * self.pause))
        self.remote.close()
        self.reader.remote.close()

    def _next_write(self) -> Write:
        kind = random.choice(["post", "post", "reply", "both", "react"])
        body: dict[str, Any] = {"pageId": self.page_id, "content": str(uuid4())}
        first, second = random.sample(self.roots, 2)
        match kind:
            case "react" if self.last_post is not None:
                target, self.last_post = self.last_post, None
                return Write(self.token, "/v1/reactions", {"messageId": target, "emoji": "👍"}, ("react",))
            case "reply":
                return Write(self.token, "/api/messages", body | {"parentId": first}, ("reply",))
            case "both":
                answers = {"parentId": first, "quoteId": second}
                return Write(self.token, "/api/messages", body | answers, ("reply", "quote"))
        return Write(self.token, "/api/messages", body, ("post",))

    def _write(self, write: Write) -> None:
        """Until it is acknowledged; a post is then read back, and some are edited."""
        if not self._finish(write) or write.counters != ("post",):
            return
        assert write.reply
        post = write.reply.json
        self.last_post = post["id"]
        self.reader.read_back(post)
        if self.posts % EDIT_EACH == 0:
            self._edit(post)
        self.posts += 1

    def _edit(self, post: dict[str, Any]) -> None:
        content = {"content": post["content"] + EDITED}
        if self._finish(Write(self.token, f"/api/messages/{post['id']}", content, method="PUT")):
            self.reader.read_back(post | content)

    def _finish(self, write: Write) -> bool:
        """Whether it was acknowledged."""
        began = time.monotonic()
        while time.monotonic() < began + PATIENCE_SECONDS:
            reply = self._try(write)
            if reply is not None and reply.status not in RETRIED:
                return self._note(write, reply, began)
            time.sleep(random.uniform(0, 2 * RETRY_SECONDS))
        self.notes.surprises.append(f"not acknowledged in {PATIENCE_SECONDS} s")
        self.stopping = True
        return False

    def _try(self, write: Write) -> Reply | None:
        request, sent = f"{write.method} {write.path}", time.monotonic()
        try:
            self.remote.send(write.method, write.path, write.body, key=write.key)
            if random.random() < self.lose_answers:
                self.remote.close()
                return None
            reply = self.remote.receive()
        except (OSError, HTTPException) as error:
            self.notes.count_broken(request, error, sent)
            return None
        self.notes.count(request, reply, sent)
        return reply

    def _note(self, write: Write, reply: Reply, began: float) -> bool:
        if reply.status not in ACCEPTED:
            self.notes.surprises.append(f"{write.path}: {reply.status} {reply.body[:200]!r}")
            return False
        write.reply, write.began = reply, began
        self.notes.writes.append(write)
        self.notes.longest = max(self.notes.longest, time.monotonic() - began)
        self.acknowledged_from = began
        return True


class Watch(threading.Thread):
    """Notes how long this process stood still, which explains a slow request."""

    def __init__(self, notes: Notes) -> None:
        super().__init__(daemon=True)
        self.notes = notes
        self.ended = threading.Event()

    def run(self) -> None:
        began = time.monotonic()
        while not self.ended.wait(WATCH_SECONDS):
            began, before = time.monotonic(), began
            self.notes.stalled = max(self.notes.stalled, began - before - WATCH_SECONDS)


class Load:
    """Runs writers inside the block, evenly over `ports`; at its end each finishes its current write."""

    def __init__(self, *, ports: list[int], tokens: list[str], page_id: str, roots: list[str], pause: float) -> None:
        self.notes = Notes()
        self.writers = [
            Writer(self.notes, port=port, token=token, page_id=page_id, roots=roots, pause=pause)
            for port, token in zip(cycle(ports), tokens)
        ]
        self.watch = Watch(self.notes)

    def __enter__(self) -> Self:
        for thread in (self.watch, *self.writers):
            thread.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        for writer in self.writers:
            writer.stopping = True
        for writer in self.writers:
            writer.join(2 * PATIENCE_SECONDS)
        self.watch.ended.set()

    def lose_answers(self, share: float) -> None:
        """Close `share` of the connections between request and response."""
        for writer in self.writers:
            writer.lose_answers = share

    def wait_until_healthy(self) -> float:
        """Wait until each writer has an acknowledged write that it began after this call. Returns the seconds."""
        began = time.monotonic()
        while any(writer.is_alive() and writer.acknowledged_from < began for writer in self.writers):
            time.sleep(0.005)
        return time.monotonic() - began
