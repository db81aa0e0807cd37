"""A primary that ends and a standby that is promoted: nothing acknowledged is lost, and the service goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import InternalError, OperationalError, connections

from config.database import preferred_hosts, urls
from config.database.backend.base import DatabaseWrapper
from config.database.bounds import answers_within
from tests.cluster.environment import ClusterEnvironment, a_clustered_service
from tests.faults.invariants import Verdict, judge, ledger
from tests.faults.load import Load, Notes
from tests.faults.run import Writers
from tests.remote import Remote
from tests.waiting import PATIENCE_SECONDS, eventually

PAUSE_SECONDS = 0.02
LOST_ANSWERS = 0.05
CANCEL = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE 'COMMIT%%'"
# No request waits for ever: for a frozen server STATEMENT_TIMEOUT and two seconds, twice if the response is cached, and
# for each host that a new connection tries three; more on a busy machine.
SLOWEST_SECONDS = 60


@pytest.fixture(scope="module")
def environment() -> Iterator[ClusterEnvironment]:
    with a_clustered_service(STATEMENT_TIMEOUT="2500") as environment:
        yield environment


def test_a_failover_loses_and_doubles_no_write(environment: ClusterEnvironment, subtests: pytest.Subtests) -> None:
    """One test, because starting the cluster dominates its duration."""
    writers = Writers.of(environment)
    for fault in (primary_killed, primary_stopped, primary_frozen):
        with subtests.test(fault.__name__):
            charged = ledger(environment)
            notes = play(environment, writers, fault)
            assert not notes.surprises
            assert set(notes.statuses) <= {200, 201, 409, 503}
            assert judge(environment, notes.writes, charged_before=charged) == Verdict()
            assert len(notes.writes) >= len(writers.tokens)
            assert notes.slowest < SLOWEST_SECONDS


def play(environment: ClusterEnvironment, writers: Writers, fault: Callable[[ClusterEnvironment], None]) -> Notes:
    """Under load: the fault, a promotion, and at the end the old primary as a standby of the new one."""
    cluster, old = environment.cluster, environment.cluster.primary
    ports = [environment.service.port]
    load = Load(ports=ports, tokens=writers.tokens, page_id=writers.page_id, roots=writers.roots, pause=PAUSE_SECONDS)
    with load:
        load.lose_answers(LOST_ANSWERS)
        load.wait_until_healthy()
        fault(environment)
        cluster.promote()
        load.wait_until_healthy()
        cluster.rejoin(old)
        load.wait_until_healthy()
    return load.notes


def primary_killed(environment: ClusterEnvironment) -> None:
    environment.cluster.primary.kill()


def primary_stopped(environment: ClusterEnvironment) -> None:
    environment.cluster.primary.stop("fast")


def primary_frozen(environment: ClusterEnvironment) -> None:
    """It accepts connections and answers nothing. `/readyz` says so; then the operator ends it."""
    environment.cluster.primary.freeze()
    remote = Remote(environment.service.port)
    assert eventually(lambda: remote.call("GET", "/readyz").json["missing"] == ["database"])
    environment.cluster.primary.kill()


def test_a_commit_that_no_standby_has_is_not_acknowledged(environment: ClusterEnvironment) -> None:
    """PostgreSQL only warns if the wait for a standby is cancelled."""
    cluster = environment.cluster
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


def test_a_session_that_only_reads_is_replaced_after_an_error(environment: ClusterEnvironment) -> None:
    session = a_session(environment.cluster.standbys[0].url)
    with pytest.raises(InternalError, match="read-only"):
        session.run("CREATE TABLE refused (id int)", ())
    session.close_if_unusable_or_obsolete()
    assert session.connection is None


def test_the_host_of_the_last_connection_is_tried_first(environment: ClusterEnvironment) -> None:
    cluster = environment.cluster
    first = a_session(cluster.url)
    for _ in range(2):
        first.ensure_connection()
        assert first.connection.info.port == cluster.primary.port
        first.close()
    ordered = preferred_hosts.in_order(first.get_connection_params())
    assert ordered["port"].split(",")[0] == str(cluster.primary.port)
    assert sorted(ordered["port"].split(",")) == sorted(str(server.port) for server in cluster.servers)


def test_a_frozen_server_ends_a_wait_within_its_bound(environment: ClusterEnvironment) -> None:
    standby = environment.cluster.standbys[0]
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
