"""A connection that ends between its COMMIT and the answer: the retry finds out whether the write is there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread

import psycopg
import pytest

from runtime.postgres import DATABASE, SUPERUSER
from tests.clients import Clients, bearer
from tests.cluster.relay import Relay, relay_before
from tests.faults.environment import SERVICE_NAME, SETTINGS
from tests.faults.hosts import SECRETS
from tests.remote import Remote, Reply
from tests.service import a_service
from tests.temporary_cluster import TemporaryCluster
from tests.waiting import PATIENCE_SECONDS, eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes]

STORED = """
SELECT (SELECT count(*) FROM messaging_message WHERE content = %(content)s),
    (SELECT count(*) FROM changes_change JOIN messaging_message post ON post.id = message_id
     WHERE type = 'message.created' AND content = %(content)s)
"""
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = %s"
PROBE = "probe"


@dataclass(frozen=True, slots=True)
class World:
    relay: Relay
    session: psycopg.Connection
    remote: Remote
    page_id: str

    def post(self, content: str) -> Reply:
        return self.remote.call("POST", "/api/messages", self.body(content), key=content)

    def post_and_cut(self, content: str, *, passes_commit: bool, when: Callable[[], bool]) -> Reply:
        """The answer to a post whose connection to PostgreSQL is cut when its COMMIT was sent and `when` is true."""
        self.relay.hold(content, passes_commit=passes_commit)
        self.remote.send("POST", "/api/messages", self.body(content), key=content)
        self.relay.wait_until_held()
        assert eventually(when)
        self.relay.cut()
        return self.remote.receive()

    def body(self, content: str) -> dict[str, str]:
        return {"pageId": self.page_id, "content": content}

    def stored(self, content: str) -> tuple[int, int]:
        """The numbers of posts and of their rows in the change log."""
        row = self.session.execute(STORED, {"content": content}).fetchone()
        assert row
        return int(row[0]), int(row[1])


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    cluster = TemporaryCluster({"synchronous_commit": "on"}, template=os.environ.get("TEMPLATE_CLUSTER"))
    try:
        with relay_before(cluster.cluster.socket_folder / ".s.PGSQL.5432") as relay:
            url = f"postgresql://{SUPERUSER}@127.0.0.1:{relay.port}/{DATABASE}"
            with (
                a_service(**SETTINGS, **SECRETS, DATABASE_URL=url) as service,
                psycopg.connect(cluster.url, autocommit=True) as session,
            ):
                service.start()
                clients = Clients(service)
                remote = Remote(service.port, bearer(clients.agent_token()))
                yield World(relay, session, remote, clients.page_id("https://example.com/lost-commit"))
    finally:
        cluster.close()


def is_refused(reply: Reply) -> bool:
    return (reply.status, reply.error) == (503, "temporarily_unavailable") and "retry-after" in reply.headers


def is_replayed(reply: Reply) -> bool:
    return reply.status == 201 and reply.headers.get("idempotent-replayed") == "true"


def test_a_commit_that_arrived_is_replayed(world: World) -> None:
    content = "committed, answer lost"
    reply = world.post_and_cut(content, passes_commit=True, when=lambda: world.stored(content) == (1, 1))
    assert is_refused(reply)
    retries = [world.post(content) for _ in range(2)]
    assert all(map(is_replayed, retries))
    assert retries[0].body == retries[1].body
    assert world.stored(content) == (1, 1)


def test_a_commit_that_did_not_arrive_is_written_by_the_retry(world: World) -> None:
    content = "not committed"
    assert is_refused(world.post_and_cut(content, passes_commit=False, when=lambda: True))
    assert world.stored(content) == (0, 0)
    first = world.post(content)
    assert first.status == 201
    assert not is_replayed(first)
    assert is_replayed(again := world.post(content))
    assert again.body == first.body
    assert world.stored(content) == (1, 1)


def test_a_commit_that_still_waits_for_a_standby_is_not_written_twice(world: World) -> None:
    content = "in doubt"
    with no_standby(world.session):
        reply = world.post_and_cut(content, passes_commit=True, when=lambda: waiting(world.session, SERVICE_NAME) > 0)
        assert is_refused(reply)
        assert world.post(content).status in (409, 503)
        assert world.stored(content) == (0, 0)
    assert eventually(lambda: is_replayed(world.post(content)))
    assert world.stored(content) == (1, 1)


@contextmanager
def no_standby(session: psycopg.Connection) -> Iterator[None]:
    """Commits wait in the block. A probe does before it: the setting has an effect some time later."""
    session.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    session.execute("SELECT pg_reload_conf()")
    ending = Event()
    prober = Thread(target=commit_repeatedly, args=[session.info.dsn, ending], daemon=True)
    prober.start()
    try:
        assert eventually(lambda: waiting(session, PROBE) == 1)
        yield
    finally:
        ending.set()
        session.execute("ALTER SYSTEM RESET synchronous_standby_names")
        session.execute("SELECT pg_reload_conf()")
        prober.join(PATIENCE_SECONDS)


def commit_repeatedly(dsn: str, ending: Event) -> None:
    with psycopg.connect(dsn, autocommit=True, application_name=PROBE) as connection:
        while not ending.wait(0.01):
            connection.execute("SELECT pg_logical_emit_message(true, 'probe', '')")


def waiting(session: psycopg.Connection, application: str) -> int:
    row = session.execute(WAITING, [application]).fetchone()
    assert row
    return int(row[0])
