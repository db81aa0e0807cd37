"""The embedded PostgreSQL, with separate clusters."""

import logging
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from runtime import postgres
from runtime.data_folder import CannotRun, InUse, postgres_of_command, sole_use
from runtime.postgres import Cluster
from runtime.postgres_binaries import owner
from runtime.sockets import folder_of
from tests.temporary_cluster import SETTINGS, TemporaryCluster
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes]


@pytest.fixture(scope="module")
def temporary() -> Iterator[TemporaryCluster]:
    cluster = TemporaryCluster()
    yield cluster
    if cluster.home.exists():
        cluster.close()


@pytest.fixture
def cluster(temporary: TemporaryCluster) -> Cluster:
    temporary.cluster.start()
    return temporary.cluster


def query(cluster: Cluster, sql: str) -> object:
    with psycopg.connect(cluster.url) as connection:
        row = connection.execute(sql).fetchone()  # type: ignore[arg-type]
        assert row
        return row[0]


def test_the_server_is_postgresql_18_on_a_socket_for_its_owner_only(cluster: Cluster) -> None:
    assert str(query(cluster, "SHOW server_version")).startswith("18")
    assert query(cluster, "SHOW listen_addresses") == ""
    assert query(cluster, "SHOW unix_socket_permissions") == "0700"
    assert cluster.folder.stat().st_mode & 0o077 == 0


def test_start_and_stop_may_be_repeated_also_after_a_crash_and_preserve_the_data(cluster: Cluster) -> None:
    with psycopg.connect(cluster.url) as connection:
        connection.execute("CREATE TABLE stored AS SELECT 42 AS answer")
    cluster.start()
    cluster.stop()
    cluster.stop()
    assert not cluster.is_running()
    # After a crash of the machine, `postmaster.pid` exists and another process has its process id.
    (cluster.folder / "postmaster.pid").write_text(f"{os.getpid()}\n{cluster.folder}\n0\n5432\n\n\n\nready\n")
    cluster.start()
    other = Cluster(cluster.folder, SETTINGS)
    assert other.is_running()
    other.start()
    assert query(other, "SELECT answer FROM stored") == 42


def test_a_stop_does_not_wait_for_a_session_that_does_not_end(cluster: Cluster) -> None:
    with psycopg.connect(cluster.url) as connection:
        backend = psutil.Process(connection.info.backend_pid)
        backend.suspend()
        try:
            # PostgreSQL kills processes that run five seconds after an immediate stop.
            cluster.stop()
            assert not backend.is_running() or backend.status() == psutil.STATUS_ZOMBIE
        finally:
            with suppress(psutil.NoSuchProcess):
                backend.resume()
    assert not cluster.is_running()
    cluster.start()
    assert query(cluster, "SELECT 1") == 1


def test_a_start_waits_for_a_recovery_that_takes_longer_than_pg_ctl_waits(
    temporary: TemporaryCluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The recovery waits for a file of its log, until the start has said that the server recovers."""
    monkeypatch.setattr(postgres, "START_SECONDS", 1)
    gate = temporary.home / "gate"
    gate.touch()
    waiting = f"while test -e {gate}; do sleep 0.1; done; false"
    third = Cluster(temporary.home / "third", SETTINGS | {"restore_command": waiting, "hot_standby": "off"})
    third.start()
    third.stop("immediate")
    signal = third.folder / "recovery.signal"
    signal.touch()
    os.chown(signal, owner().pw_uid, -1)
    try:
        with caplog.at_level(logging.WARNING), ThreadPoolExecutor(1) as pool:
            started = pool.submit(third.start)
            try:
                assert eventually(lambda: "recovers" in caplog.text or started.done())
                assert not started.done()
            finally:
                gate.unlink()
            started.result()
        assert query(third, "SELECT pg_is_in_recovery()") is False
    finally:
        gate.unlink(missing_ok=True)
        third.stop("immediate")


def test_an_interrupted_creation_is_repeated(temporary: TemporaryCluster) -> None:
    draft = temporary.home / "second.new"
    draft.mkdir()
    (draft / "PG_VERSION").write_text("18\n")
    second = Cluster(temporary.home / "second", SETTINGS)
    second.start()
    try:
        assert query(second, "SELECT 1") == 1
        assert not draft.exists()
    finally:
        second.stop("immediate")


@pytest.mark.parametrize("name", ["x" * 100, "it's, odd", "two words"])
def test_a_path_that_is_unfit_for_a_socket_gets_a_short_one(temporary: TemporaryCluster, name: str) -> None:
    ordinary = Path("/srv/app/.data/postgres")
    assert folder_of(ordinary) == ordinary
    folder = temporary.home / name / "postgres"
    cluster = Cluster(folder, SETTINGS)
    assert cluster.socket_folder != folder
    assert len(str(cluster.socket_folder)) < 60
    cluster.start()
    try:
        assert query(cluster, "SELECT 1") == 1
        assert cluster.socket_folder.stat().st_mode & 0o077 == 0
    finally:
        cluster.stop("immediate")
        assert not cluster.socket_folder.exists()


def test_a_command_leaves_a_running_server_and_what_it_starts_is_for_no_service_that_starts_meanwhile(
    cluster: Cluster,
) -> None:
    data = cluster.folder.parent
    # One that runs already is left running.
    with sole_use(data), postgres_of_command(data):
        assert cluster.is_running()
    assert cluster.is_running()
    cluster.stop()
    with postgres_of_command(data):
        assert cluster.is_running()
        with pytest.raises(InUse), sole_use(data):
            pass
    assert not cluster.is_running()
    # The other way round: the service has the lock, and is about to start the server.
    with sole_use(data):
        with pytest.raises(InUse), postgres_of_command(data):
            pass
        cluster.start()
    assert cluster.is_running()


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root may give a folder to another user.")
def test_root_does_not_take_the_data_of_another_user(tmp_path: Path) -> None:
    with sole_use(tmp_path):
        """Those of root, and of the user that runs PostgreSQL for root."""
    (tmp_path / "postgres").mkdir()
    os.chown(tmp_path / "postgres", owner().pw_uid, -1)
    with sole_use(tmp_path):
        (tmp_path / "lock").unlink()
    for user, name in ((65534, "nobody"), (54321, "user 54321")):
        os.chown(tmp_path / "postgres", user, -1)
        with pytest.raises(CannotRun, match=f"run this as {name}"), sole_use(tmp_path):
            pass
    # A new folder that root may write to is that of its user, too.
    (tmp_path / "postgres").rmdir()
    os.chown(tmp_path, 65534, -1)
    with pytest.raises(CannotRun, match="run this as nobody"), sole_use(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


def test_a_temporary_cluster_leaves_no_files(cluster: Cluster, temporary: TemporaryCluster) -> None:
    """Closes the cluster of this module, which no further test uses."""
    temporary.close()
    assert not cluster.is_running()
    assert not temporary.home.exists()
