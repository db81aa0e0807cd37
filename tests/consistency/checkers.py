"""Writers that count what they were told, and readers that may never see less.

Every subject is a number that writers only raise. A reader notes how far the writers have been told, *then* begins its
read: an answer that shows less is older than a write that was answered before the read began.
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

# A connection stays with one worker: new ones find the others.
READS_A_CONNECTION = 25


@dataclass(slots=True)
class Subject:
    """`write` raises the number by one (None: it cannot any more); `seen` takes it from an answer to `path`."""

    name: str
    path: str
    write: Callable[[Remote], Reply | None]
    seen: Callable[[Any], int]
    told: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def raise_by_one(self, remote: Remote) -> Reply | None:
        reply = self.write(remote)
        if reply is not None and reply.status < 300:
            with self._lock:
                self.told += 1
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
        return sum(subject.told for subject in self.subjects)

    def wake(self) -> None:
        """One write and one read of each subject everywhere: the first ones take their time."""
        for port in self.ports:
            for subject in self.subjects:
                self._raise(subject, Remote(port))
                self._compare(subject, Remote(port))

    def watch(self, seconds: float, *, writers: int, readers: int, meanwhile: Callable[[], None]) -> None:
        """Write and read from everywhere for so long; `meanwhile` runs in this thread."""
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
        told = subject.told
        reply = remote.call("GET", subject.path)
        if reply.status != 200:
            self.failed[f"{subject.name} {reply.status}"] += 1
            return
        self.reads[threading.get_ident()] += 1
        seen = subject.seen(reply.json)
        if seen < told:
            self.stale.append(f"{subject.name} on port {remote.port}: {seen} seen, {told} told before")
