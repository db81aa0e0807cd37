"""What is refused before a backup is made or read, and the archive of the log."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.exceptions import ImproperlyConfigured

from kernel.changes.restored import GENERATION_MAX
from runtime import wal_archive
from runtime.backups import BackupError, making, restoring
from tests.backup.database import a_database, begin_again_by_hand
from tests.commands.running import refused


@pytest.fixture
def source() -> Iterator[str]:
    with a_database() as url:
        yield url


def test_no_database_is_made_for_a_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.delenv("DATABASE_URL")
    settings.DATA_DIR = tmp_path
    assert f"{tmp_path} has no database" in refused("backup", str(tmp_path / "backup"))
    assert not list(tmp_path.iterdir())


def test_too_little_space_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="GB are needed"):
        making.check_space(tmp_path, 10**18)


@pytest.mark.parametrize("begin_again", [restoring.begin_again, begin_again_by_hand])
def test_two_restores_of_a_backup_begin_different_generations(
    source: str, begin_again: Callable[[psycopg.Connection[tuple[Any, ...]]], None]
) -> None:
    generations = set()
    with psycopg.connect(source) as session:
        for _ in range(5):
            begin_again(session)
            rows = session.execute("SELECT generation FROM changes_changelog WHERE cluster = ''").fetchall()
            generations |= {generation for (generation,) in rows}
    assert len(generations) > 1
    assert max(generations) < GENERATION_MAX


def test_a_backup_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    assert "is no folder" in refused("restore", str(tmp_path / "nothing"))
    assert "it is no backup" in refused("restore", str(tmp_path))


def test_an_archive_has_an_absolute_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAL_ARCHIVE", "relative")
    with pytest.raises(ImproperlyConfigured, match="absolute path"):
        wal_archive.settings()
    monkeypatch.setenv("WAL_ARCHIVE", "/archive")
    assert wal_archive.settings()["archive_timeout"] == "60"


@pytest.mark.processes
def test_an_archived_file_is_never_replaced(tmp_path: Path) -> None:
    archive, data = tmp_path / "wal archive 100%", tmp_path / "data"
    archive.mkdir()
    data.mkdir()
    command = wal_archive.archive_command(archive).replace("%%", "%").replace("%p", "log").replace("%f", "0001")

    def archived() -> int:
        return subprocess.run(["sh", "-c", command], cwd=data, check=False, stderr=subprocess.DEVNULL).returncode

    (data / "log").write_bytes(b"first" * 1000)
    assert archived() == archived() == 0
    (data / "log").write_bytes(b"other" * 1000)
    assert archived() != 0
    assert [path.name for path in archive.iterdir()] == ["0001.gz"]
    restore = wal_archive.restore_command(archive).replace("%%", "%").replace("%p", "back").replace("%f", "0001")
    assert subprocess.run(["sh", "-c", restore], cwd=data, check=False).returncode == 0
    assert (data / "back").read_bytes() == b"first" * 1000
