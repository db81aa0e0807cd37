"""Starts a real PgBouncer with the configuration in `deploy/`."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from kernel.database import urls
from runtime import postgres_binaries
from runtime.postgres import DATABASE, SUPERUSER, Cluster
from tests.service import ROOT, free_port
from tests.waiting import eventually

PROGRAM = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
needs_pgbouncer = pytest.mark.skipif(not Path(PROGRAM).exists(), reason="no pgbouncer: put one on PATH")
USERS = ("postgres", "community")


@contextmanager
def pgbouncer_before(host: str | Path, port: int = 5432) -> Iterator[int]:
    """PgBouncer in front of a server; yields its port. `host` may be the folder of a socket."""
    home = Path(tempfile.mkdtemp(prefix="cm-pgbouncer-"))
    listen = free_port()
    home.chmod(0o755)
    (home / "users").write_text("".join(f'"{user}" ""\n' for user in USERS))
    (home / "ini").write_text(configuration(host, port, listen, home))
    as_user = ["-u", postgres_binaries.owner().pw_name] if os.geteuid() == 0 else []
    with (home / "out").open("wb") as output:
        process = subprocess.Popen([PROGRAM, *as_user, home / "ini"], stdout=output, stderr=output)
    try:
        assert eventually(lambda: _accepts(listen, process)), (home / "out").read_text()
        yield listen
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(home)


@contextmanager
def pooler_before(cluster: Cluster) -> Iterator[dict[str, str]]:
    """PgBouncer before a cluster of the tests, whose role has the settings; yields variables of the environment."""
    needed = urls.session_settings(60_000) | {"lock_timeout": 30_000, "timezone": "UTC"}
    with psycopg.connect(cluster.url, autocommit=True) as session:
        for name, value in needed.items():
            session.execute(f"ALTER ROLE {SUPERUSER} SET {name} = '{value}'")
    with pgbouncer_before(cluster.socket_folder) as port:
        url = f"postgresql://{SUPERUSER}@127.0.0.1:{port}/{DATABASE}"
        yield {"DATABASE_POOLER": "1", "DATABASE_URL": url, "DATABASE_DIRECT_URL": cluster.url}


def configuration(host: str | Path, port: int, listen: int, home: Path) -> str:
    text = (ROOT / "deploy/pgbouncer.ini").read_text()
    changes = {
        "host=127.0.0.1 port=5432": f"host={host} port={port}",
        "listen_port = 6432": f"listen_port = {listen}\nunix_socket_dir =",
        "auth_type = scram-sha-256": "auth_type = trust",
        "/etc/pgbouncer/userlist.txt": str(home / "users"),
    }
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def _accepts(port: int, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "pgbouncer did not start"
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0
