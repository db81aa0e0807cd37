"""Writers that repeat each write with its Idempotency-Key until it is acknowledged."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import cycle
from typing import Any, Self
from uuid import uuid4

from tests.remote import Remote, Reply

PATIENCE_SECONDS = 60
PAUSE_SECONDS = 0.01
RETRY_SECONDS = 0.05
# If a process dies between its commit and the invalidation, a cached response lives for RESPONSE_CACHE_SECONDS: 2 with
# Redis, 5 without. The read itself may take a second.
STALE_MAX_SECONDS = 6
ACCEPTED = {200, 201}
# Documented as a reason to retry.
RETRIED = {409, 503}
# Of a read; 404 until it shows the post.
READ = {200, 404, 503}


@dataclass(slots=True)
class Write:
    """One write of the agent with `token`; `reply` is set when it is acknowledged, and `began` is its first request."""

    token: str
    path: str
    body: dict[str, Any]
    counters: tuple[str, ...]
    key: str = field(default_factory=lambda: str(uuid4()))
    reply: Reply | None = None
    began: float = 0.0


@dataclass(slots=True)
class Notes:
    """The observations of the writers. `slowest` request and `longest` write are in seconds.

    `stale` is the longest time in seconds that an acknowledged post was missing from a read.
    """

    writes: list[Write] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    broken: int = 0
    stale: float = 0.0
    slowest: float = 0.0
    longest: float = 0.0


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
        self.reader = Remote(port)
        self.last_post: str | None = None
        self.acknowledged_from = 0.0
        self.lose_answers = 0.0
        self.stopping = False

    def run(self) -> None:
        while not self.stopping:
            self._finish(self._next_write())
            time.sleep(random.uniform(0, 2 * self.pause))
        self.remote.close()

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

    def _finish(self, write: Write) -> None:
        began = time.monotonic()
        while time.monotonic() < began + PATIENCE_SECONDS:
            reply = self._try(write)
            if reply is not None and reply.status not in RETRIED:
                self._note(write, reply, began)
                return
            time.sleep(random.uniform(0, 2 * RETRY_SECONDS))
        self.notes.surprises.append(f"not acknowledged in {PATIENCE_SECONDS} s")
        self.stopping = True

    def _try(self, write: Write) -> Reply | None:
        sent = time.monotonic()
        try:
            self.remote.send("POST", write.path, write.body, key=write.key)
            if random.random() < self.lose_answers:
                self.remote.close()
                return None
            reply = self.remote.receive()
        except (OSError, HTTPException):
            self.notes.broken += 1
            return None
        self._count(reply, sent)
        return reply

    def _count(self, reply: Reply, sent: float) -> None:
        self.notes.slowest = max(self.notes.slowest, time.monotonic() - sent)
        self.notes.statuses[reply.status] += 1
        if reply.status == 503 and not reply.headers.get("retry-after"):
            self.notes.surprises.append(f"503 without Retry-After: {reply.body[:200]!r}")

    def _note(self, write: Write, reply: Reply, began: float) -> None:
        if reply.status not in ACCEPTED:
            self.notes.surprises.append(f"{write.path}: {reply.status} {reply.body[:200]!r}")
            return
        write.reply, write.began = reply, began
        self.notes.writes.append(write)
        self.notes.longest = max(self.notes.longest, time.monotonic() - began)
        self.acknowledged_from = began
        if write.counters == ("post",):
            self.last_post = reply.json["id"]
            self._read_back(reply.json["id"])

    def _read_back(self, post_id: str) -> None:
        """Read the post and the list of its page without a credential, until both show it."""
        for path in (f"/api/messages/{post_id}", f"/api/messages?pageId={self.page_id}&limit=100"):
            acknowledged = time.monotonic()
            while not self._shows(path, post_id):
                self.notes.stale = max(self.notes.stale, time.monotonic() - acknowledged)
                if self.notes.stale > STALE_MAX_SECONDS:
                    self.notes.surprises.append(f"{path} does not show {post_id}")
                    return

    def _shows(self, path: str, post_id: str) -> bool:
        sent = time.monotonic()
        try:
            reply = self.reader.call("GET", path)
        except (OSError, HTTPException):
            self.notes.broken += 1
            return True
        self._count(reply, sent)
        if reply.status not in READ:
            self.notes.surprises.append(f"{path}: {reply.status} {reply.body[:200]!r}")
        return reply.status == 503 or post_id.encode() in reply.body


class Load:
    """Runs writers inside the block, evenly over `ports`; at its end each finishes its current write."""

    def __init__(self, *, ports: list[int], tokens: list[str], page_id: str, roots: list[str], pause: float) -> None:
        self.notes = Notes()
        self.writers = [
            Writer(self.notes, port=port, token=token, page_id=page_id, roots=roots, pause=pause)
            for port, token in zip(cycle(ports), tokens)
        ]

    def __enter__(self) -> Self:
        for writer in self.writers:
            writer.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        for writer in self.writers:
            writer.stopping = True
        for writer in self.writers:
            writer.join(2 * PATIENCE_SECONDS)

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
