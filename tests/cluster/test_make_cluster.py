"""`make cluster` does what it prints, and leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.cluster.postgres import processes_of
from tests.documents.test_commands import needs_curl
from tests.nginx import needs_nginx
from tests.pgbouncer import needs_pgbouncer
from tests.service import ROOT, runs
from tests.waiting import PATIENCE_SECONDS, eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes, needs_nginx, needs_pgbouncer, needs_curl]


@pytest.fixture
def folder() -> Iterator[Path]:
    """All that it writes is below this folder. PostgreSQL and nginx run as other users."""
    folder = Path(tempfile.mkdtemp(prefix="cm-make-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_its_command_posts_and_is_replayed_and_sigterm_ends_and_deletes_all(folder: Path) -> None:
    temporary, output = folder / "tmp", folder / "out"
    temporary.mkdir()
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "DATA_DIR")}
    with output.open("wb") as file:
        cluster = subprocess.Popen(
            [sys.executable, "-m", "tests.cluster", "--hosts", "2"],
            cwd=ROOT,
            env=environment | {"TMPDIR": str(temporary)},
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    started: list[psutil.Process] = []
    try:
        assert eventually(lambda: "curl -i" in output.read_text() or cluster.poll() is not None)
        assert cluster.poll() is None, output.read_text()
        command = "curl" + output.read_text().partition("\n  curl")[2].partition("\n\n")[0]
        first, again = (subprocess.check_output(["bash", "-c", command], text=True) for _ in range(2))
        assert first.startswith("HTTP/1.1 201"), first
        assert again.startswith("HTTP/1.1 201"), again
        assert "idempotent-replayed" not in first.lower()
        assert "idempotent-replayed: true" in again.lower()
        assert first.partition("\r\n\r\n")[2] == again.partition("\r\n\r\n")[2]
        started = all_processes(cluster.pid, temporary)
        names = {process.name() for process in started}
        assert {"nginx", "pgbouncer", "postgres"} <= names, names
    finally:
        cluster.terminate()
        status = cluster.wait(PATIENCE_SECONDS)
    assert status == 0, output.read_text()
    assert eventually(lambda: not any(map(runs, started))), killed(started)
    assert not list(temporary.iterdir())


def all_processes(main: int, temporary: Path) -> list[psutil.Process]:
    """PostgreSQL's servers are children of nobody."""
    servers = [process for database in temporary.glob("cm-cluster-*/db*/") for process in processes_of(database)]
    return [*psutil.Process(main).children(recursive=True), *servers]


def killed(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that ran on."""
    left = [process for process in processes if runs(process)]
    for process in left:
        process.kill()
    return left
