"""Measures how long ordinary clients wait beside slow ones."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from http.client import HTTPException

from tests.faults import slow
from tests.remote import Remote

CLIENTS = 4
PAUSE_SECONDS = 0.01
# The timeout of a client.
PATIENCE_SECONDS = 5


@dataclass(slots=True)
class Waits:
    """`seconds` of requests with a 200. `unanswered`: timeouts, and every other status."""

    seconds: list[float] = field(default_factory=list)
    unanswered: int = 0

    def share(self, part: float) -> float:
        """The quantile `part` of the waits, in seconds."""
        ordered = sorted(self.seconds) or [float("inf")]
        return ordered[min(int(len(ordered) * part), len(ordered) - 1)]

    def __str__(self) -> str:
        given_up = f"{self.unanswered} not answered within {PATIENCE_SECONDS} s"
        if not self.seconds:
            return f"none answered, {given_up}"
        median, high, worst = (self.share(part) * 1000 for part in (0.5, 0.99, 1))
        answered = f"{len(self.seconds)} answered: median {median:.0f} ms, p99 {high:.0f} ms, worst {worst:.0f} ms"
        return f"{answered}; {given_up}"


def waits_beside(count: int, *, port: int, path: str, seconds: float) -> Waits:
    """Read `path` for `seconds`, while `count` slow clients are connected to the same port."""
    waits = Waits()
    with slow.sockets(port, count=count):
        readers = [threading.Thread(target=_read, args=(waits, port, path, seconds)) for _ in range(CLIENTS)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
    return waits


def _read(waits: Waits, port: int, path: str, seconds: float) -> None:
    remote, end = Remote(port, timeout=PATIENCE_SECONDS), time.monotonic() + seconds
    while time.monotonic() < end:
        sent = time.monotonic()
        try:
            answered = remote.call("GET", path).status == 200
        except (OSError, HTTPException):
            answered = False
        if answered:
            waits.seconds.append(time.monotonic() - sent)
        else:
            waits.unanswered += 1
        time.sleep(PAUSE_SECONDS)
    remote.close()
