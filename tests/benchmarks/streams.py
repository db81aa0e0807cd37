"""Measures streams: delivery to many clients, memory of idle ones, and ordinary reads beside them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.clients import Clients, Person
from tests.remote import Remote
from tests.service import ROOT, Service
from tests.streams.faults import stream_processes

STREAMS, IDLE_STREAMS, POSTS_PER_SECOND = 1_000, 5_000, 50
WRITERS, READERS, READ_PAUSE_SECONDS = 5, 4, 0.01
# What issue 13 requires.
DELIVERY_P99_SECONDS, IDLE_MEGABYTES, READS_RATIO = 1.0, 400, 1.5
# For the service: all clients have one address, and all posts one author.
ENVIRONMENT = {
    "STREAMS": "1",
    "STREAMS_PER_ADDRESS": "100000",
    "THROTTLE_PERSON_PER_HOUR": "100000000",
    "THROTTLE_REGISTER_PER_MINUTE": "1000",
}


@dataclass(frozen=True, slots=True)
class Delivery:
    """What the sampled clients of a run have got."""

    lost: int
    events: int
    p50: float
    p99: float
    worst: float


def measure(service: Service, *, streams: int, idle: int, seconds: float) -> bool:
    """Print the figures; returns whether they are what the issue requires."""
    clients = Clients(service)
    person, page = clients.person(), clients.page_id("https://example.com/streams")
    alone = read_p99(service, page, seconds)
    with following(service, streams, seconds + 2) as running, posting(service, person, page):
        beside = read_p99(service, page, seconds)
        delivery = result_of(running)
    _say(f"{streams:,} streams, {POSTS_PER_SECOND} posts a second", _delays(delivery))
    _say("reads alone and beside them", f"p99 {alone * 1000:.1f} and {beside * 1000:.1f} ms")
    megabytes, opened = idle_memory(service, idle)
    _say(f"{opened:,} idle streams", f"{megabytes:,.0f} MB in the stream process")
    is_fast = delivery.events > 0 and not delivery.lost and delivery.p99 < DELIVERY_P99_SECONDS
    return is_fast and beside < READS_RATIO * alone and megabytes < IDLE_MEGABYTES and opened == idle


@contextmanager
def following(service: Service, count: int, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """Clients in a process of their own, which are all connected."""
    command = [sys.executable, "-m", "tests.benchmarks.stream_clients"]
    arguments = [str(service.stream_port), str(count), str(seconds)]
    with subprocess.Popen([*command, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        word, opened = running.stdout.readline().split()
        assert (word, int(opened)) == ("open", count)
        try:
            yield running
        finally:
            running.terminate()


def result_of(running: subprocess.Popen[str]) -> Delivery:
    assert running.stdout
    _word, lost, events, *quantiles = running.stdout.readline().split()
    return Delivery(int(lost), int(events), *map(float, quantiles))


@contextmanager
def posting(service: Service, person: Person, page: str) -> Iterator[None]:
    """Write POSTS_PER_SECOND posts while the block runs."""
    stopped = threading.Event()
    writers = [threading.Thread(target=_post, args=(service, person, page, stopped)) for _ in range(WRITERS)]
    for writer in writers:
        writer.start()
    try:
        yield
    finally:
        stopped.set()
        for writer in writers:
            writer.join()


def _post(service: Service, person: Person, page: str, stopped: threading.Event) -> None:
    remote, due = Remote(service.port, person.user), time.monotonic()
    while not stopped.wait(max(0.0, due - time.monotonic())):
        reply = remote.call("POST", "/api/messages", {"pageId": page, "content": "A post that readers follow."})
        assert reply.status == 201, reply
        due += WRITERS / POSTS_PER_SECOND


def read_p99(service: Service, page: str, seconds: float) -> float:
    """Of lists of posts, which the posts beside them make the service query again."""
    waits: list[float] = []
    readers = [threading.Thread(target=_read, args=(service, page, seconds, waits)) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return sorted(waits)[int(len(waits) * 0.99)]


def _read(service: Service, page: str, seconds: float, waits: list[float]) -> None:
    remote, end = Remote(service.port), time.monotonic() + seconds
    while time.monotonic() < end:
        sent = time.monotonic()
        assert remote.call("GET", f"/api/messages?pageId={page}").status == 200
        waits.append(time.monotonic() - sent)
        time.sleep(READ_PAUSE_SECONDS)
    remote.close()


def idle_memory(service: Service, count: int) -> tuple[float, int]:
    """(megabytes of the stream process with `count` streams that get no event, open streams)."""
    with following(service, count, 3):
        (process,) = stream_processes(service)
        return process.memory_info().rss / 2**20, count


def _delays(delivery: Delivery) -> str:
    quantiles = ", ".join(
        f"{name} {value * 1000:.0f} ms"
        for name, value in (("p50", delivery.p50), ("p99", delivery.p99), ("worst", delivery.worst))
    )
    return f"change to client: {quantiles}; {delivery.lost} streams cut"


def _say(name: str, text: str) -> None:
    sys.stdout.write(f"{name:<40}{text}\n")
    sys.stdout.flush()
