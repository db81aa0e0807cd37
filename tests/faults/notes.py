"""What writers observe under load."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from tests.remote import Reply


@dataclass(slots=True)
class Write:
    """One write of the agent with `token`; `reply` is set when it is acknowledged, and `began` is its first request."""

    token: str
    path: str
    body: dict[str, Any]
    counters: tuple[str, ...] = ()
    method: str = "POST"
    key: str = field(default_factory=lambda: str(uuid4()))
    reply: Reply | None = None
    began: float = 0.0


@dataclass(slots=True)
class Notes:
    """The observations of the writers. `slowest` request and `longest` write are in seconds.

    `broken`: each request without a response. `stalled`: the longest time in seconds for which this process did not
    run. `stale`: the longest one between the acknowledgement of a post or of its edit and a read that did not show it.
    """

    writes: list[Write] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    stale: float = 0.0
    slowest: float = 0.0
    slowest_request: str = ""
    slowest_id: str = ""
    longest: float = 0.0
    stalled: float = 0.0

    def count(self, request: str, reply: Reply, sent: float) -> None:
        self.statuses[reply.status] += 1
        if (waited := time.monotonic() - sent) > self.slowest:
            self.slowest = waited
            self.slowest_request = f"{request}: {reply.status}"
            self.slowest_id = reply.headers.get("x-request-id", "")
        if reply.status == 503 and not reply.headers.get("retry-after"):
            self.surprises.append(f"503 without Retry-After: {reply.body[:200]!r}")

    def count_broken(self, request: str, error: Exception, sent: float) -> None:
        self.broken.append(f"{request}: {error!r} after {time.monotonic() - sent:.2f} s")
