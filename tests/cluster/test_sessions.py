"""Sessions whose server freezes, only reads, or has no standby any more."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import InternalError, OperationalError, connections

from config.database import preferred_hosts, urls
from config.database.backend.base import DatabaseWrapper
from config.database.bounds import answers_within
from tests.cluster.postgres import PostgresCluster
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
