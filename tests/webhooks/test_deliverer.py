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

import pytest
from django.db import connection
from psycopg.conninfo import make_conninfo

from messaging.models import Webhook
from messaging.models import webhook as models
from messaging.webhooks.deliverer import IN_FLIGHT_OF_OWNER, Deliverer
from tests.service import ROOT
from tests.webhooks.making import WEBHOOKS, Owner
from tests.webhooks.receiver import Receiver, running_receiver, silence, status
from tests.webhooks.test_delivery import Site

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def delivering() -> Iterator[None]:
    """A deliverer in a thread."""
    loop, deliverer = asyncio.new_event_loop(), Deliverer()
    thread = threading.Thread(target=lambda: loop.run_until_complete(deliverer.run()))
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(deliverer.stop)
        thread.join()
        loop.close()


def command(*arguments: str, **environment: str) -> tuple[list[str], dict[str, str]]:
    """`manage.py deliver_webhooks` on the database of the test, and its environment."""
    url = make_conninfo(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"])
    variables = {"DATABASE_URL": url, "WEBHOOKS": "1", "WEBHOOKS_ALLOW_LOCAL": "1", **environment}
    return [sys.executable, "manage.py", "deliver_webhooks", *arguments], os.environ | variables


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
    deadline = time.monotonic() + 60
    while posts(receiver) != expected:
        assert time.monotonic() < deadline, (len(posts(receiver)), len(expected))
        time.sleep(0.02)


def test_a_post_is_delivered_when_it_is_written(receiver: Receiver) -> None:
    site = Site(receiver)
    with delivering():
        wait_for_posts(receiver, ids_of(site))
    assert Webhook.objects.get().leased_until is None


def test_slow_receivers_of_one_owner_delay_no_other(receiver: Receiver) -> None:
    with running_receiver() as slow:
        slow.respond = silence(30)
        owner = Owner()
        for _ in range(IN_FLIGHT_OF_OWNER + 2):
            webhook = owner.create(slow.url)
            owner.api.post(f"{WEBHOOKS}/{webhook['id']}/test")
        site = Site(receiver)
        with delivering():
            slow.wait_for(IN_FLIGHT_OF_OWNER)
            wait_for_posts(receiver, ids_of(site))
            assert len(slow.received) <= IN_FLIGHT_OF_OWNER + 2


def test_several_hosts_deliver_each_event_in_order(receiver: Receiver) -> None:
    site = Site(receiver)
    with delivering(), delivering(), delivering():
        wait_for_posts(receiver, ids_of(site))
        time.sleep(0.2)
    assert len(receiver.received) == len(receiver.first_ids()) == 10


def test_a_killed_process_loses_nothing(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one goes on when the lease of the killed one has expired; the event that was being sent is repeated."""
    site = Site(receiver)
    reached, released = threading.Event(), threading.Event()

    def respond(handler: Any) -> None:
        if len(receiver.received) == 4:
            reached.set()
            released.wait(30)
        status(200)(handler)

    receiver.respond = respond
    expected = ids_of(site)
    with process() as first:
        assert reached.wait(60)
        first.send_signal(signal.SIGKILL)
        first.wait()
    released.set()
    with delivering():
        wait_for_posts(receiver, expected)
    assert receiver.received[3].id == receiver.received[4].id
    assert models.LEASE.total_seconds() >= 3 * 5


def test_the_command_stops_at_once_and_releases_its_leases(receiver: Receiver) -> None:
    site = Site(receiver)
    receiver.respond = silence(10)
    site.post()
    with process() as running:
        receiver.wait_for(1, seconds=60)
        running.send_signal(signal.SIGTERM)
        assert running.wait(20) == 0
    assert Webhook.objects.get().leased_until is None


def test_the_command_stops_when_its_parent_has_ended() -> None:
    program, environment = command("--parent", "1")
    assert subprocess.run(program, cwd=ROOT, env=environment, timeout=120, check=False).returncode == 0


def test_the_command_refuses_to_run_without_the_setting() -> None:
    program, environment = command(WEBHOOKS="0")
    finished = subprocess.run(
        program, cwd=ROOT, env=environment, timeout=120, check=False, capture_output=True, text=True
    )
    assert finished.returncode == 1
    assert "WEBHOOKS=1 is not set" in finished.stderr


def test_local_addresses_are_refused_with_an_https_base_url() -> None:
    variables = {"WEBHOOKS_ALLOW_LOCAL": "1", "BASE_URL": "https://service.example"}
    finished = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env=os.environ | variables,
        timeout=120,
        check=False,
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 1
    assert "WEBHOOKS_ALLOW_LOCAL is 1 and BASE_URL is https" in finished.stderr
