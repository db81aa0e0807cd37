"""A backup of a cluster is one of the server that takes writes, wherever DATABASE_URL names it."""

from __future__ import annotations

import psycopg
import pytest

from config.runtime.backups import programs
from config.runtime.backups.running import database_url
from config.runtime.postgres_binaries import binaries
from tests.cluster.postgres import PostgresCluster, Server

pytestmark = [pytest.mark.slow, pytest.mark.processes]


def test_a_dump_has_writes_that_a_standby_named_first_has_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    dump = tmp_path_factory.mktemp("dump") / "dump.sql"
    with PostgresCluster(standbys=1) as cluster:
        cluster.primary.ask("CREATE TABLE written (text text)")
        (standby,) = cluster.standbys
        standby.ask("SELECT pg_wal_replay_pause()")
        cluster.primary.ask("INSERT INTO written VALUES ('acknowledged')")
        monkeypatch.setenv("DATABASE_URL", address_of(standby, cluster.primary))
        with database_url() as url:
            programs.run(binaries() / "pg_dump", "--table=written", f"--file={dump}", url=url)
        assert "acknowledged" in dump.read_text()
        # A restore writes.
        with database_url() as url, psycopg.connect(url) as session:
            session.execute("INSERT INTO written VALUES ('restored')")


def address_of(first: Server, second: Server) -> str:
    own = f"{first.place.address}:{first.port}"
    return first.url.replace(own, f"{own},{second.place.address}:{second.port}")
