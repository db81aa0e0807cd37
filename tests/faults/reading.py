"""Reads what was written back, without a credential, until it is shown."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from http.client import HTTPException
from typing import Any

from tests.faults.notes import Notes
from tests.remote import Remote, Reply

PATIENCE_SECONDS = 60
RETRY_SECONDS = 0.05
# If a process dies between its commit and the invalidation, a cached response lives for RESPONSE_CACHE_SECONDS: 2 with
# Redis, 5 without. The read that was cached may have taken a second.
STALE_MAX_SECONDS = 6
LIMIT = 100
# Of a read; 404 until it shows the post.
READ = {200, 404, 503}
Post = Mapping[str, Any]


class Reader:
    def __init__(self, notes: Notes, *, port: int, page_id: str) -> None:
        self.notes, self.page_id = notes, page_id
        self.remote = Remote(port)

    def read_back(self, post: Post) -> None:
        """Read the post and the list of its page until both show it as it is here. It was acknowledged just now."""
        acknowledged = time.monotonic()
        self._read_until(f"/api/messages/{post['id']}", is_shown, post, acknowledged)
        self._read_until(f"/api/messages?pageId={self.page_id}&limit={LIMIT}", is_listed, post, acknowledged)

    def _read_until(self, path: str, holds: Callable[[Reply, Post], bool], post: Post, acknowledged: float) -> None:
        """A read that is refused or broken is repeated, and says nothing about the post."""
        while (sent := time.monotonic()) < acknowledged + PATIENCE_SECONDS:
            reply = self._read(path)
            if reply is not None:
                if holds(reply, post):
                    return
                stale = sent - acknowledged
                self.notes.stale = max(self.notes.stale, stale)
                if stale > STALE_MAX_SECONDS:
                    self.notes.surprises.append(f"{path} does not show {post['id']} after {stale:.1f} s")
                    return
            time.sleep(random.uniform(0, 2 * RETRY_SECONDS))
        self.notes.surprises.append(f"{path} cannot be read for {PATIENCE_SECONDS} s")

    def _read(self, path: str) -> Reply | None:
        """None if the service has not answered what it has."""
        sent = time.monotonic()
        try:
            reply = self.remote.call("GET", path)
        except (OSError, HTTPException) as error:
            self.notes.count_broken(f"GET {path}", error, sent)
            return None
        self.notes.count(f"GET {path}", reply, sent)
        if reply.status not in READ:
            self.notes.surprises.append(f"{path}: {reply.status} {reply.body[:200]!r}")
        return reply if reply.status in (200, 404) else None


def is_shown(reply: Reply, post: Post) -> bool:
    return reply.status == 200 and bool(reply.json["content"] == post["content"])


def is_listed(reply: Reply, post: Post) -> bool:
    """Whether a list of newest posts contains it, or only newer ones, as many as fit."""
    if reply.status != 200:
        return False
    listed = reply.json["messages"]
    for each in listed:
        if each["id"] == post["id"]:
            return bool(each["content"] == post["content"])
    return len(listed) == LIMIT and all(_position(each) > _position(post) for each in listed)


def _position(post: Post) -> tuple[datetime, str]:
    return datetime.fromisoformat(post["createdAt"]), post["id"]
