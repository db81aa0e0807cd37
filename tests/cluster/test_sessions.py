"""Sessions whose server freezes, only reads, has no standby any more, or ends while a PgBouncer is before it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import InternalError, OperationalError, connections

from kernel.database import hosts as preferred_hosts
from kernel.database import urls
from kernel.database.backend.base import DatabaseWrapper
from kernel.database.bounds import answers_within
from runtime import backups
from runtime.backups import database_url
from runtime.postgres import DATABASE, SUPERUSER
from runtime.postgres_binaries import binaries
from tests.cluster.pooler import Pooler
from tests.cluster.postgres import Place, PostgresCluster, Server
from tests.pgbouncer import needs_pgbouncer
from tests.waiting import PATIENCE_SECONDS, eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes]

CANCEL = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE 'COMMIT%%'"


@pytest.fixture(scope="module")
def cluster() -> Iterator[PostgresCluster]:
    with PostgresCluster(standbys=1) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def _allowed(django_db_blocker: Any) -> Iterator[None]:
    """These sessions are not those of the test database."""
    with django_db_blocker.unblock():
        yield


def test_a_commit_that_no_standby_has_is_not_acknowledged(cluster: PostgresCluster) -> None:
    """PostgreSQL only warns if the wait for a standby is cancelled."""
    session = a_session(cluster.primary.url)
    session.run("CREATE TABLE cancelled (id int)", ())
    for standby in cluster.standbys:
        standby.freeze()
    try:
        with ThreadPoolExecutor(1) as thread:
            writing = thread.submit(commit, session)
            assert eventually(lambda: cluster.primary.ask(CANCEL) is True)
            with pytest.raises(OperationalError, match="on no standby"):
                writing.result(PATIENCE_SECONDS)
    finally:
        for standby in cluster.standbys:
            standby.thaw()
        session.close()


def test_a_session_that_only_reads_is_replaced_after_an_error(cluster: PostgresCluster) -> None:
    session = a_session(cluster.standbys[0].url)
    with pytest.raises(InternalError, match="read-only"):
        session.run("CREATE TABLE refused (id int)", ())
    session.close_if_unusable_or_obsolete()
    assert session.connection is None


def test_the_host_of_the_last_connection_is_tried_first(cluster: PostgresCluster) -> None:
    first = a_session(cluster.url)
    for _ in range(2):
        first.ensure_connection()
        assert first.connection.info.port == cluster.primary.port
        first.close()
    ordered = preferred_hosts.in_order(first.get_connection_params())
    assert ordered["port"].split(",")[0] == str(cluster.primary.port)
    assert sorted(ordered["port"].split(",")) == sorted(str(server.port) for server in cluster.servers)


def test_a_frozen_server_ends_a_wait_within_its_bound(cluster: PostgresCluster) -> None:
    standby = cluster.standbys[0]
    session = a_session(standby.url)
    session.run("SELECT 1", ())
    standby.freeze()
    try:
        with pytest.raises(OperationalError, match=r"has not answered for 0\.3 s"), answers_within(0.3):
            session.run("SELECT 1", ())
        assert session.connection.closed
    finally:
        standby.thaw()
        session.close()


def a_session(url: str) -> DatabaseWrapper:
    """A connection as those of the service, without timeouts; any thread may use it."""
    settings = connections["default"].settings_dict | urls.database(url, statement_timeout=0)
    session = DatabaseWrapper(settings, "default")
    session.inc_thread_sharing()
    return session


def commit(session: DatabaseWrapper) -> None:
    session.ensure_connection()
    session.set_autocommit(False)
    try:
        session.run("INSERT INTO cancelled VALUES (1)", ())
        session.commit()
    finally:
        session.rollback()


def test_a_backup_has_writes_that_a_standby_named_first_has_not(
    cluster: PostgresCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A backup of a cluster is one of the server that takes writes, wherever DATABASE_URL names it."""
    cluster.primary.ask("CREATE TABLE written (text text)")
    (standby,) = cluster.standbys
    standby.ask("SELECT pg_wal_replay_pause()")
    try:
        cluster.primary.ask("INSERT INTO written VALUES ('acknowledged')")
        monkeypatch.setenv("DATABASE_URL", address_of(standby, cluster.primary))
        with database_url() as url:
            backups.run(binaries() / "pg_dump", "--table=written", f"--file={tmp_path / 'dump'}", url=url)
        assert "acknowledged" in (tmp_path / "dump").read_text()
        # A restore writes.
        with database_url() as url, psycopg.connect(url) as session:
            session.execute("INSERT INTO written VALUES ('restored')")
    finally:
        standby.ask("SELECT pg_wal_replay_resume()")


def address_of(first: Server, second: Server) -> str:
    own = f"{first.place.address}:{first.port}"
    return first.url.replace(own, f"{own},{second.place.address}:{second.port}")


@pytest.fixture
def poolers(cluster: PostgresCluster, tmp_path: Path) -> Iterator[dict[str, Pooler]]:
    """Yield them by the names of the servers, the standby first."""
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    found = {server.name: Pooler(tmp_path / server.name, Place()) for server in reversed(cluster.servers)}
    try:
        for server in cluster.servers:
            found[server.name].start(server)
        yield found
    finally:
        for pooler in found.values():
            pooler.kill()


@needs_pgbouncer
def test_a_session_behind_poolers_finds_each_promoted_server(
    cluster: PostgresCluster, poolers: dict[str, Pooler]
) -> None:
    """There and back: the second one that is promoted has been a dead primary and a standby behind its pooler."""
    session = a_pooled_session(poolers)
    assert server_of(session, poolers) == cluster.primary.name
    for _ in range(2):
        old = cluster.primary
        old.kill()
        cluster.promote()
        assert server_of(session, poolers) == cluster.primary.name != old.name
        cluster.rejoin(old)
        # A session of before would read there, as the document says.
        poolers[old.name].kill()
        poolers[old.name].start(old)
    session.close()


@needs_pgbouncer
def test_without_a_server_that_writes_no_session_is_opened(
    cluster: PostgresCluster, poolers: dict[str, Pooler]
) -> None:
    cluster.primary.kill()
    try:
        with pytest.raises(OperationalError, match="No server behind the poolers takes writes"):
            a_pooled_session(poolers).ensure_connection()
    finally:
        cluster.primary.start()
        cluster.wait_for_standbys()


def a_pooled_session(poolers: dict[str, Pooler]) -> DatabaseWrapper:
    hosts = ",".join(f"127.0.0.1:{pooler.port}" for pooler in poolers.values())
    url = f"postgresql://{SUPERUSER}@{hosts}/{DATABASE}"
    settings = connections["default"].settings_dict | urls.database(url, statement_timeout=5_000, pooler=True)
    return DatabaseWrapper(settings, "default")


def server_of(session: DatabaseWrapper, poolers: dict[str, Pooler]) -> str:
    """The name of the server of a new connection, which takes writes."""
    session.close()
    session.ensure_connection()
    ((only_reads,),) = session.run("SHOW transaction_read_only", ()).fetchall()
    assert only_reads == "off"
    return next(name for name, pooler in poolers.items() if pooler.port == session.connection.info.port)
