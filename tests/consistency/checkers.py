"""Writers count acknowledged writes; readers must never see a smaller number.

Every subject is a number that writes only increase. A reader stores the acknowledged number, *then* begins its read: a
response with a smaller number is older than a write that was acknowledged before the read began.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

from tests.remote import Remote, Reply

# A connection stays with one worker, so readers reconnect.
READS_A_CONNECTION = 25


@dataclass(slots=True)
class Subject:
    """`write` increments the number, or returns None at its maximum; `seen` reads it from the response of `path`."""

    name: str
    path: str
    write: Callable[[Remote], Reply | None]
    seen: Callable[[Any], int]
    acknowledged: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def raise_by_one(self, remote: Remote) -> Reply | None:
        reply = self.write(remote)
        if reply is not None and reply.status < 300:
            with self._lock:
                self.acknowledged += 1
        return reply


@dataclass(slots=True)
class ConsistencyChecker:
    """All threads of one run against the given ports."""

    ports: list[int]
    subjects: list[Subject]
    stale: list[str] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    reads: Counter[int] = field(default_factory=Counter)
    _over: threading.Event = field(default_factory=threading.Event)

    @property
    def writes(self) -> int:
        return sum(subject.acknowledged for subject in self.subjects)

    def warm_up(self) -> None:
        """One write and one read of each subject on each port: the first ones are slow."""
        for port in self.ports:
            for subject in self.subjects:
                self._raise(subject, Remote(port))
                self._compare(subject, Remote(port))

    def watch(self, seconds: float, *, writers: int, readers: int, meanwhile: Callable[[], None]) -> None:
        """Write and read on all ports for `seconds`; `meanwhile` runs in this thread."""
        threads = [threading.Thread(target=self._write, args=(number,)) for number in range(writers)]
        threads += [threading.Thread(target=self._read, args=(number,)) for number in range(readers)]
        ends = time.monotonic() + seconds
        for thread in threads:
            thread.start()
        try:
            meanwhile()
            time.sleep(max(0.0, ends - time.monotonic()))
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def _write(self, number: int) -> None:
        dice, remote = random.Random(number), Remote(self.ports[number % len(self.ports)])
        while not self._over.is_set():
            with suppress(OSError, HTTPException):
                self._raise(dice.choice(self.subjects), remote)

    def _read(self, number: int) -> None:
        dice, remote = random.Random(number), Remote(self.ports[number % len(self.ports)])
        while not self._over.is_set():
            remote.close()
            with suppress(OSError, HTTPException):
                for _ in range(READS_A_CONNECTION):
                    self._compare(dice.choice(self.subjects), remote)

    def _raise(self, subject: Subject, remote: Remote) -> None:
        reply = subject.raise_by_one(remote)
        if reply is not None and reply.status >= 300:
            self.failed[f"write of {subject.name}: {reply.status} {reply.body[:80]!r}"] += 1

    def _compare(self, subject: Subject, remote: Remote) -> None:
        acknowledged = subject.acknowledged
        reply = remote.call("GET", subject.path)
        if reply.status != 200:
            self.failed[f"{subject.name} {reply.status}"] += 1
            return
        self.reads[threading.get_ident()] += 1
        seen = subject.seen(reply.json)
        if seen < acknowledged:
            self.stale.append(f"{subject.name} on port {remote.port}: {seen} read, {acknowledged} acknowledged before")
