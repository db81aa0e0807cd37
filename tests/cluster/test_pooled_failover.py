"""A PgBouncer beside each PostgreSQL server, which no promotion reconfigures: sessions find the server that writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connections

from config.database import urls
from config.database.backend.base import DatabaseWrapper
from config.runtime.postgres import DATABASE, SUPERUSER
from tests.cluster.pooler import Pooler
from tests.cluster.postgres import Place, PostgresCluster
from tests.pgbouncer import needs_pgbouncer

pytestmark = [pytest.mark.slow, pytest.mark.processes, needs_pgbouncer]


@pytest.fixture(autouse=True)
def _allowed(django_db_blocker: Any) -> Iterator[None]:
    """These sessions are not those of the test database."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def cluster() -> Iterator[PostgresCluster]:
    with PostgresCluster(standbys=1) as cluster:
        yield cluster


@pytest.fixture
def poolers(cluster: PostgresCluster, tmp_path: Path) -> Iterator[dict[str, Pooler]]:
    """By the names of the servers, the standby first."""
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


def test_a_session_behind_poolers_finds_each_promoted_server(
    cluster: PostgresCluster, poolers: dict[str, Pooler]
) -> None:
    """There and back: the second one that is promoted has been a dead primary and a standby behind its pooler."""
    session = a_session(poolers)
    assert server_of(session, poolers) == cluster.primary.name
    for _ in range(2):
        old = cluster.primary
        old.kill()
        cluster.promote()
        assert server_of(session, poolers) == cluster.primary.name != old.name
        cluster.rejoin(old)
        # As documented: a session of before would read there.
        poolers[old.name].kill()
        poolers[old.name].start(old)
    session.close()


def test_without_a_server_that_writes_no_session_is_opened(
    cluster: PostgresCluster, poolers: dict[str, Pooler]
) -> None:
    cluster.primary.kill()
    with pytest.raises(OperationalError, match="No server behind the poolers takes writes"):
        a_session(poolers).ensure_connection()


def a_session(poolers: dict[str, Pooler]) -> DatabaseWrapper:
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
