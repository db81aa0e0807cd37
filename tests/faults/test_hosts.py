"""Concurrent starts and migrations of several hosts, as real processes."""

from __future__ import annotations

import os

import psycopg
import pytest

from tests.clients import Clients
from tests.faults.environment import SETTINGS
from tests.faults.healthy_clients import waits_beside
from tests.faults.hosts import empty_database, started_at_once
from tests.faults.releases import migration
from tests.remote import Remote
from tests.service import Service
from tests.waiting import ATTEMPTS

pytestmark = [pytest.mark.slow, pytest.mark.processes]

HOSTS = 3
READING_SECONDS = 2
P99_SECONDS = 0.5


def test_hosts_start_concurrently_on_an_empty_database_and_read_while_a_migration_waits() -> None:
    """One migrates and the others wait. The cache is off: every read queries the table that the next release alters."""
    settings = SETTINGS | {"RESPONSE_CACHE_MEGABYTES": "0"}
    with empty_database(os.environ["DATABASE_URL"]) as url, started_at_once(HOSTS, url, **settings) as hosts:
        assert any("Another host migrates; waiting …" in host.said() for host in hosts)
        check_that_each_host_shows_a_post_of_the_first(hosts)
        check_that_reads_are_served_while_a_migration_waits_for_a_transaction(hosts[0], url)


def check_that_each_host_shows_a_post_of_the_first(hosts: list[Service]) -> None:
    writer = Clients(hosts[0])
    page_id = writer.page_id("https://example.com/of-several-hosts")
    post = {"pageId": page_id, "content": "Hello"}
    post_id = writer.ask("/api/messages", post, **writer.person().user)["id"]
    assert [Remote(host.port).call("GET", f"/api/messages/{post_id}").status for host in hosts] == [200] * HOSTS


def check_that_reads_are_served_while_a_migration_waits_for_a_transaction(host: Service, url: str) -> None:
    path = f"/api/messages?pageId={Clients(host).page_id('https://example.com/beside-a-migration')}"
    with psycopg.connect(url) as reader:
        reader.execute("SELECT FROM messaging_message")
        with migration(host) as migrating:
            migrating.wait_until_it_waits()
            attempts = (waits_beside(0, port=host.port, path=path, seconds=READING_SECONDS) for _ in range(ATTEMPTS))
            assert any(waits.unanswered == 0 and waits.share(0.99) < P99_SECONDS for waits in attempts)
            assert migrating.is_at_work(), migrating.output
            reader.commit()
