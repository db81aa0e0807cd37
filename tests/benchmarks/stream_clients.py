"""Many clients of streams in one event loop, in a process of their own."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime

from runtime.streams import raise_file_limit

# The events of so many clients are parsed; those of the others are only received, because this process must not be the
# limit.
SAMPLED = 100
AT = re.compile(rb'"at":"([^"]+)"')
OPENING_AT_ONCE = 50


@dataclass(slots=True)
class Client(asyncio.Protocol):
    """Reads a stream. `delays`: seconds from the change to its arrival here."""

    request: bytes
    is_sampled: bool
    delays: list[float] = field(default_factory=list)
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    is_lost: bool = False
    refusal: bytes = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.write(self.request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        if not self.opened.is_set():
            self.refusal = b"" if data.startswith(b"HTTP/1.1 200") else data[:100]
            self.opened.set()
        if self.is_sampled:
            now = time.time()
            self.delays += [now - datetime.fromisoformat(at.decode()).timestamp() for at in AT.findall(data)]

    def connection_lost(self, _error: Exception | None) -> None:
        self.is_lost = True
        self.opened.set()


async def run(port: int, count: int, seconds: float) -> None:
    """Open `count` streams, print "open", read for `seconds`, and print delays of the sampled ones."""
    request = b"GET /v1/changes/stream HTTP/1.1\r\nHost: localhost\r\n\r\n"
    clients = [Client(request, number < SAMPLED) for number in range(count)]
    loop, gate = asyncio.get_running_loop(), asyncio.Semaphore(OPENING_AT_ONCE)

    async def connect(client: Client) -> None:
        async with gate:
            await loop.create_connection(lambda: client, "127.0.0.1", port)
            await client.opened.wait()

    await asyncio.gather(*map(connect, clients))
    _say("open", sum(not client.is_lost and not client.refusal for client in clients))
    await asyncio.sleep(seconds)
    delays = sorted(delay for client in clients for delay in client.delays)
    quantiles = [delays[min(len(delays) - 1, int(len(delays) * part))] if delays else 0.0 for part in (0.5, 0.99, 1)]
    _say("done", sum(client.is_lost for client in clients), len(delays), *quantiles)


def _say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise_file_limit()
    asyncio.run(run(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
