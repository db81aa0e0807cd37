"""The recovery of a physical backup: the archive of the log is read to its end, and not written."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from runtime import wal_archive
from runtime.backups import BackupError, making, restoring
from runtime.backups import restoring as checking
from runtime.backups.programs import PHYSICAL, Manifest
from runtime.postgres import Cluster
from tests.backup.database import make_tables
from tests.service import ROOT
from tests.temporary_cluster import SETTINGS, TemporaryCluster, copy_cluster
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes]

DURABLE_ENOUGH = {name: value for name, value in SETTINGS.items() if name != "max_connections"}
ARCHIVED = "SELECT last_archived_wal >= %s FROM pg_stat_archiver"
SWITCH = "SELECT pg_walfile_name(pg_switch_wal())"
SEGMENTS = 3


@dataclass(frozen=True, slots=True)
class Origin:
    """A backup, and the archive of what was written after it: one row in each of SEGMENTS files, `files`."""

    backup: Path
    found: Manifest
    archive: Path
    files: list[Path]
    home: Path


def written(session: psycopg.Connection[tuple[object, ...]], number: int) -> str:
    """Write a row, and end the file of the log that has it. Returns its name."""
    session.execute("INSERT INTO written VALUES (%s)", [number])
    row = session.execute(SWITCH).fetchone()
    assert row
    assert eventually(lambda: session.execute(ARCHIVED, row).fetchone() == (True,))
    return str(row[0])


@pytest.fixture(scope="module")
def archiving() -> Iterator[TemporaryCluster]:
    """It accepts more connections than the embedded PostgreSQL."""
    temporary = TemporaryCluster()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WAL_ARCHIVE", str(temporary.home / "archive"))
        temporary.cluster.stop()
        temporary.cluster.settings |= wal_archive.settings()
        temporary.cluster.start()
        yield temporary
    temporary.close()


@pytest.fixture(scope="module")
def origin(archiving: TemporaryCluster) -> Origin:
    home, archive = archiving.home, archiving.home / "archive"
    with psycopg.connect(archiving.url, autocommit=True) as session:
        make_tables(session)
        session.execute("CREATE TABLE written (number int)")
        making.make(archiving.url, home / "backup", kind=PHYSICAL, say=lambda _line: None)
        files = [archive / f"{written(session, number)}.gz" for number in range(SEGMENTS)]
    return Origin(home / "backup", checking.check(home / "backup"), archive, files, home)


@pytest.fixture
def copy(origin: Origin, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder with a copy of the archive, which a test may damage."""
    home = origin.home / request.node.name
    home.mkdir()
    copy_cluster(origin.archive, home / "archive")
    yield home
    shutil.rmtree(home)


@pytest.fixture
def cluster(copy: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """One that is restored into; it archives its log in the copy."""
    monkeypatch.setenv("WAL_ARCHIVE", str(copy / "archive"))
    cluster = Cluster(copy / "postgres", DURABLE_ENOUGH | wal_archive.settings())
    yield cluster
    cluster.stop("immediate")


def restore(origin: Origin, cluster: Cluster) -> None:
    target = restoring.Target(cluster.folder.parent / "archive")
    restoring.restore(origin.backup, origin.found, cluster, target, debug=True, say=lambda _line: None)


def names(archive: Path) -> set[str]:
    return {path.name for path in archive.iterdir()}


def test_a_restore_writes_to_the_archive_only_after_it_is_accepted(
    origin: Origin, copy: Path, cluster: Cluster
) -> None:
    before = names(copy / "archive")
    restore(origin, cluster)
    assert names(copy / "archive") == before
    cluster.start()
    with psycopg.connect(cluster.url, autocommit=True) as session:
        assert session.execute("SELECT count(*) FROM written").fetchone() == (SEGMENTS,)
        written(session, SEGMENTS)
    assert "00000002.history.gz" in names(copy / "archive")
    cluster.stop()
    restore(origin, cluster)
    cluster.start()
    with psycopg.connect(cluster.url) as session:
        assert session.execute("SELECT count(*) FROM written").fetchone() == (SEGMENTS + 1,)


def test_a_file_that_cannot_be_read_ends_no_archive(origin: Origin, copy: Path, cluster: Cluster) -> None:
    damaged = copy / "archive" / origin.files[-1].name
    damaged.write_bytes(damaged.read_bytes()[:100])
    with pytest.raises(BackupError, match=rf"{damaged.name} cannot be read"):
        restore(origin, cluster)
    assert not cluster.is_made()


def test_a_file_that_is_missing_before_others_ends_no_archive(origin: Origin, copy: Path, cluster: Cluster) -> None:
    (copy / "archive" / origin.files[1].name).unlink()
    with pytest.raises(BackupError, match=rf"has {origin.files[2].stem}, .* ended before"):
        restore(origin, cluster)
    assert not cluster.is_made()


def test_a_restore_that_a_crash_of_the_machine_has_interrupted_can_be_repeated(
    origin: Origin, copy: Path, cluster: Cluster
) -> None:
    """Its `postmaster.pid` exists, and another process has its process id."""
    draft = copy / "postgres.restored"
    shutil.copytree(origin.backup / "postgres", draft)
    with subprocess.Popen(["sleep", "600"]) as foreign:
        try:
            (draft / "postmaster.pid").write_text(f"{foreign.pid}\n{draft}\n0\n5432\n\n\n\nready\n")
            restore(origin, cluster)
            assert foreign.poll() is None
        finally:
            foreign.kill()


def recipe() -> str:
    """That of docs/operations.md for a server of one's own."""
    found = re.search(r"^restore_command = '(.*)'$", (ROOT / "docs/operations.md").read_text(), re.MULTILINE)
    assert found
    return found[1]


@pytest.mark.parametrize("command", ["embedded", "own"])
def test_only_a_missing_file_counts_as_the_end_of_the_log(tmp_path: Path, command: str) -> None:
    """PostgreSQL takes a status up to 125 for the end, and stops at a higher one."""
    archive = tmp_path / "wal archive"
    text = wal_archive.restore_command(archive) if command == "embedded" else recipe().replace("/archive", str(archive))

    def status() -> int:
        filled = text.replace("%p", "back").replace("%f", "0001")
        return subprocess.run(["sh", "-c", filled], cwd=tmp_path, check=False, capture_output=True).returncode

    assert status() > 125
    archive.mkdir()
    assert 1 <= status() <= 125
    (archive / "0001.gz").write_bytes(b"no archive")
    assert status() > 125
    subprocess.run("printf text | gzip > 0001.gz", shell=True, cwd=archive, check=True)
    assert status() == 0
    assert (tmp_path / "back").read_bytes() == b"text"
    (tmp_path / "back").unlink()
    (tmp_path / "back").mkdir()
    assert status() > 125
