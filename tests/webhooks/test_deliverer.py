"""The deliverer: concurrent webhooks, several hosts, processes that are killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models.functions import Now
from psycopg.conninfo import make_conninfo

from messaging.models import Webhook
from messaging.webhooks import deliverer
from messaging.webhooks.deliverer import IN_FLIGHT_OF_OWNER, Deliverer
from messaging.webhooks.posting import Outcome, post
from messaging.webhooks.turns import release, waiting_webhooks
from tests.operations.values import value
from tests.service import ROOT
from tests.waiting import PATIENCE_SECONDS, eventually
from tests.webhooks.making import WEBHOOKS, Owner
from tests.webhooks.receiver import Receiver, running_receiver, silence, status
from tests.webhooks.test_delivery import Site

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def delivering() -> Iterator[None]:
    """A deliverer in a thread."""
    loop, running = asyncio.new_event_loop(), Deliverer()
    thread = threading.Thread(target=lambda: loop.run_until_complete(running.run()))
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(running.stop)
        thread.join(PATIENCE_SECONDS)
        loop.close()


def command() -> tuple[list[str], dict[str, str]]:
    """A worker that delivers, on the database of the test, and its environment."""
    url = make_conninfo(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"])
    variables = {"DATABASE_URL": url, "WEBHOOKS": "1", "WEBHOOKS_ALLOW_LOCAL": "1", "HOUSEKEEPING_MINUTES": "0"}
    return [sys.executable, "manage.py", "worker"], os.environ | variables


@contextmanager
def process() -> Iterator[subprocess.Popen[bytes]]:
    program, environment = command()
    running = subprocess.Popen(program, cwd=ROOT, env=environment)
    try:
        yield running
    finally:
        running.kill()
        running.wait()


def ids_of(site: Site) -> list[str]:
    """What the receiver must get: the posts, in the order of their commits."""
    return [site.post(str(number)) for number in range(10)]


def posts(receiver: Receiver) -> list[str]:
    """The posts in the order of the first arrival of their events."""
    return list(
        dict.fromkeys(request.json["messageId"] for request in receiver.received if "messageId" in request.json)
    )


def wait_for_posts(receiver: Receiver, expected: list[str]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while posts(receiver) != expected:
        assert time.monotonic() < deadline, (len(posts(receiver)), len(expected))
        time.sleep(0.02)


def test_a_post_is_delivered_when_it_is_written(receiver: Receiver) -> None:
    site = Site(receiver)
    with delivering():
        wait_for_posts(receiver, ids_of(site))
    assert Webhook.objects.get().leased_until is None


def test_the_metric_has_the_webhooks_that_wait(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliverer, "IN_FLIGHT_MAX", 0)
    for _ in range(2):
        Site(receiver).post()
    with delivering():
        assert eventually(lambda: value("webhooks_waiting") == 2)
        monkeypatch.setattr(deliverer, "IN_FLIGHT_MAX", 10)
        assert eventually(lambda: value("webhooks_waiting") == 0)


@pytest.mark.parametrize("seconds", [0, 0.005, 0.01, 0.02, 0.04, 0.08])
def test_a_stop_releases_the_lease_at_any_time(receiver: Receiver, seconds: float) -> None:
    ids_of(Site(receiver))
    with delivering():
        time.sleep(seconds)
    assert Webhook.objects.get().leased_until is None


def test_a_stop_waits_for_a_release_that_is_under_way(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    reached = threading.Event()

    def release_slowly(lease_id: UUID) -> None:
        reached.set()
        time.sleep(0.2)
        release(lease_id)

    monkeypatch.setattr(deliverer, "release", release_slowly)
    Site(receiver).post()
    with delivering():
        assert reached.wait(PATIENCE_SECONDS)
    assert Webhook.objects.get().leased_until is None


class InFlight:
    """Counts the requests that are being sent at once; `receiver` limits it to those of one receiver."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, receiver: Receiver | None = None) -> None:
        self.now = self.most = 0
        self._url = receiver and receiver.url
        monkeypatch.setattr(deliverer, "post", self._post)

    async def _post(self, url: str, *arguments: Any) -> Outcome:
        counted = self._url is None or url == self._url
        self.now += counted
        self.most = max(self.most, self.now)
        try:
            return await post(url, *arguments)
        finally:
            self.now -= counted


def test_slow_receivers_of_one_owner_delay_no_other(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def respond(handler: Any) -> None:
        released.wait(PATIENCE_SECONDS)
        status(200)(handler)

    with running_receiver() as slow:
        slow.respond = respond
        owner, in_flight = Owner(), InFlight(monkeypatch, slow)
        for _ in range(IN_FLIGHT_OF_OWNER + 2):
            webhook = owner.create(slow.url)
            owner.api.post(f"{WEBHOOKS}/{webhook['id']}/test")
        site = Site(receiver)
        with delivering():
            slow.wait_for(IN_FLIGHT_OF_OWNER)
            wait_for_posts(receiver, ids_of(site))
            released.set()
            slow.wait_for(IN_FLIGHT_OF_OWNER + 2)
        assert in_flight.most <= IN_FLIGHT_OF_OWNER


def test_more_webhooks_than_may_be_in_flight_have_their_turns(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliverer, "IN_FLIGHT_MAX", 2)
    in_flight, sites = InFlight(monkeypatch), [Site(receiver) for _ in range(5)]
    expected = {site.post() for site in sites}
    with delivering():
        receiver.wait_for(len(sites))
    assert set(posts(receiver)) == expected
    assert in_flight.most <= 2


@pytest.mark.parametrize(("limit", "value"), [("TURN_EVENTS", 1), ("TURN_SECONDS", 0.0)])
def test_a_webhook_with_many_events_takes_turns_with_others(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, limit: str, value: float
) -> None:
    monkeypatch.setattr(deliverer, limit, value)
    monkeypatch.setattr(deliverer, "IN_FLIGHT_MAX", 1)
    busy, other = Site(receiver), Site(receiver)
    first, *more = [busy.post() for _ in range(3)]
    (only,) = [other.post()]
    with delivering():
        wait_for_posts(receiver, [first, only, *more])


def test_rounds_have_a_shortest_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[float] = []

    def nothing_waits() -> list[Any]:
        began.append(time.monotonic())
        running._due.set()
        if len(began) == 4:
            running.stop()
        return []

    monkeypatch.setattr(deliverer, "waiting_webhooks", nothing_waits)
    running = Deliverer()
    asyncio.run(running.run())
    assert began[3] - began[0] >= 2.9 * deliverer.PAUSE_SECONDS


def test_after_an_unexpected_exception_the_lease_is_the_pause(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: Any) -> None:
        raise RuntimeError("a defect")

    site = Site(receiver)
    site.post()
    monkeypatch.setattr(deliverer, "record", fail)
    asyncio.run(Deliverer()._turn(Webhook.objects.get().pk))
    assert len(receiver.received) == 1
    assert Webhook.objects.filter(leased_until__gt=Now()).exists()
    assert waiting_webhooks() == []


def test_several_hosts_deliver_each_event_in_order(receiver: Receiver) -> None:
    site = Site(receiver)
    with delivering(), delivering(), delivering():
        expected = ids_of(site)
        wait_for_posts(receiver, expected)
        # An event that was sent twice would have arrived before one of a later post.
        wait_for_posts(receiver, [*expected, site.post("last")])
    assert len(receiver.received) == len(receiver.first_ids()) == 11


@pytest.mark.slow
@pytest.mark.processes
def test_a_killed_process_loses_nothing(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one goes on when the lease of the killed one has expired; the event that was being sent is repeated."""
    site = Site(receiver)
    reached, released = threading.Event(), threading.Event()

    def respond(handler: Any) -> None:
        if len(receiver.received) == 4:
            reached.set()
            released.wait(PATIENCE_SECONDS)
        status(200)(handler)

    receiver.respond = respond
    expected = ids_of(site)
    with process() as first:
        assert reached.wait(PATIENCE_SECONDS)
        first.send_signal(signal.SIGKILL)
        first.wait()
    released.set()
    assert waiting_webhooks() == [], "the lease of the killed one has not expired"
    Webhook.objects.update(leased_until=Now())
    with delivering():
        wait_for_posts(receiver, expected)
    assert receiver.received[3].id == receiver.received[4].id
    assert Webhook.LEASE.total_seconds() >= 3 * 5


@pytest.mark.slow
@pytest.mark.processes
def test_the_worker_stops_at_once_and_releases_its_leases(receiver: Receiver) -> None:
    site = Site(receiver)
    receiver.respond = silence(10)
    site.post()
    with process() as running:
        receiver.wait_for(1)
        running.send_signal(signal.SIGTERM)
        assert running.wait(PATIENCE_SECONDS) == 0
    webhook = Webhook.objects.get()
    assert webhook.leased_until is None
    # An attempt that is waited for is recorded.
    assert not webhook.deliveries.exists()


@pytest.mark.slow
@pytest.mark.processes
def test_local_addresses_are_refused_with_an_https_base_url() -> None:
    variables = {"WEBHOOKS_ALLOW_LOCAL": "1", "BASE_URL": "https://service.example"}
    finished = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env=os.environ | variables,
        timeout=PATIENCE_SECONDS,
        check=False,
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 1
    assert "WEBHOOKS_ALLOW_LOCAL is 1 and BASE_URL is https" in finished.stderr
