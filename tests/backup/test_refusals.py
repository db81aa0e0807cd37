"""A backup that is not whole, or does not fit, is refused and changes nothing."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from psycopg.conninfo import make_conninfo

from runtime.backups import BackupError, logical, making, programs, restoring
from runtime.backups import programs as manifest
from runtime.backups import restoring as checking
from runtime.backups.programs import LOGICAL, PHYSICAL
from runtime.data_folder import sole_use
from tests.backup.database import a_database
from tests.commands.running import refused

pytestmark = [pytest.mark.slow, pytest.mark.processes]
# Between two checkpoints of a busy server. Each file of the log has 16 megabytes, which a backup copies.
PAUSE_SECONDS = 0.05
RESERVED = "SELECT restart_lsn IS NOT NULL FROM pg_replication_slots WHERE slot_name LIKE 'backup%'"


def silent(_line: str) -> None:
    """No progress."""


@pytest.fixture(scope="module")
def source() -> Iterator[str]:
    """The address of a database with two tables of the service."""
    with a_database() as url:
        yield url


@pytest.fixture(scope="module")
def backups(source: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("backups")
    for kind in (PHYSICAL, LOGICAL):
        making.make(source, home / kind, kind=kind, say=silent)
    return {kind: home / kind for kind in (PHYSICAL, LOGICAL)}


def test_a_backup_has_its_log_while_the_server_removes_old_files_of_it(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy server has many checkpoints. The log is reserved before the program of PostgreSQL begins."""
    made, run, reserved = threading.Event(), programs.run, list[tuple[object, ...]]()

    def run_and_note(*arguments: Any, **options: Any) -> None:
        with psycopg.connect(source) as session:
            reserved.extend(session.execute(RESERVED).fetchall())
        run(*arguments, **options)

    monkeypatch.setattr(programs, "run", run_and_note)

    def remove_old_log() -> None:
        with psycopg.connect(source, autocommit=True) as session:
            while not made.wait(PAUSE_SECONDS):
                session.execute("SELECT pg_switch_wal()")
                session.execute("CHECKPOINT")

    with ThreadPoolExecutor(1) as pool:
        removing = pool.submit(remove_old_log)
        try:
            making.make(source, tmp_path / "backup", kind=PHYSICAL, say=silent)
            checking.check(tmp_path / "backup")
        finally:
            made.set()
        removing.result()
    assert reserved == [(True,)]


@pytest.fixture(params=[PHYSICAL, LOGICAL])
def copy(request: pytest.FixtureRequest, backups: dict[str, Path], tmp_path: Path) -> Path:
    """A backup that a test may damage."""
    return Path(shutil.copytree(backups[request.param], tmp_path / "copy"))


def test_a_backup_says_what_it_is_of_and_has_no_secret(backups: dict[str, Path]) -> None:
    for kind, folder in backups.items():
        found = checking.check(folder)
        assert found.kind == kind
        assert found.fingerprints.keys() == {"ROOT_KEY"}
        assert found.started_at <= found.finished_at
        text = b"".join(path.read_bytes() for path in folder.glob("*.json"))
        for name in ("SECRET_KEY", "ROOT_KEY", "TOKEN_PEPPER"):
            assert getattr(settings, name).encode() not in text
    assert not list(backups[PHYSICAL].parent.glob(".*"))


def truncate(folder: Path) -> None:
    largest = max((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    with largest.open("r+b") as file:
        file.truncate(largest.stat().st_size // 2)


def flip_a_bit(folder: Path) -> None:
    largest = max((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    data = bytearray(largest.read_bytes())
    data[len(data) // 2] ^= 1
    largest.write_bytes(data)


def add_a_file(folder: Path) -> None:
    (folder / "more").write_text("")


def remove_the_manifest(folder: Path) -> None:
    (folder / manifest.FILE).unlink()


def garble_the_manifest(folder: Path) -> None:
    (folder / manifest.FILE).write_text("{")


def alter_the_manifest(folder: Path) -> None:
    content = json.loads((folder / manifest.FILE).read_text())
    (folder / manifest.FILE).write_text(json.dumps(content | {"fingerprints": {}}))


@pytest.mark.parametrize(
    "damage", [truncate, flip_a_bit, add_a_file, remove_the_manifest, garble_the_manifest, alter_the_manifest]
)
def test_a_damaged_backup_is_refused(copy: Path, damage: Callable[[Path], None]) -> None:
    damage(copy)
    with pytest.raises(BackupError, match=r"altered|cut off|cannot be read|pg_restore failed") as refusal:
        checking.check(copy)
    assert "\n" not in str(refusal.value)


def rewrite(folder: Path, **changes: object) -> None:
    """Alter the manifest with a correct digest, as another release would have written it."""
    content = json.loads((folder / manifest.FILE).read_text()) | changes
    del content["digest"]
    (folder / manifest.FILE).write_text(json.dumps(content | {"digest": manifest._digest(content)}))


def test_a_backup_of_a_newer_release_is_refused(copy: Path) -> None:
    rewrite(copy, migrations=["messaging.9999_from_the_future"], release="9.0.0")
    with pytest.raises(BackupError, match=r"release 9\.0\.0, whose migration messaging\.9999"):
        checking.check(copy)
    rewrite(copy, format=2)
    with pytest.raises(BackupError, match="format 2"):
        checking.check(copy)


def test_other_secrets_are_refused_and_previous_ones_are_not(
    backups: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = checking.check(backups[LOGICAL])
    checking.check_secrets(found, data=tmp_path, debug=False)
    used = settings.ROOT_KEY
    monkeypatch.setenv("ROOT_KEY", "another-root-key" * 5)
    with pytest.raises(BackupError, match="ROOT_KEY is not of the service that this backup is of"):
        checking.check_secrets(found, data=tmp_path, debug=False)
    monkeypatch.setenv("ROOT_KEY_PREVIOUS", used)
    checking.check_secrets(found, data=tmp_path, debug=False)


def test_a_check_compares_the_secrets_also_with_an_archive(
    backups: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ROOT_KEY", "another-root-key" * 5)
    text = refused("restore", str(backups[PHYSICAL]), "--check", "--wal", str(tmp_path))
    assert "ROOT_KEY is not of the service" in text
    assert "unless they were rotated since" in text


def test_a_folder_that_is_not_empty_or_nowhere_is_refused(source: str, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for to in ("full", "full/file", "nowhere/backup"):
        with pytest.raises(BackupError, match=r"is not empty|is no folder"):
            making.make(source, tmp_path / to, kind=LOGICAL, say=silent)
    assert [path.name for path in tmp_path.iterdir()] == ["full"]


def test_a_service_that_starts_is_not_backed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.delenv("DATABASE_URL")
    settings.DATA_DIR = tmp_path
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("18\n")
    with sole_use(tmp_path):
        assert f"uses {tmp_path}" in refused("backup", str(tmp_path / "backup"))


@pytest.mark.parametrize("kind", [PHYSICAL, LOGICAL])
def test_a_database_that_is_not_the_service_s_is_not_backed_up(tmp_path: Path, kind: str) -> None:
    with a_database() as emptied, psycopg.connect(emptied) as session:
        session.execute("DELETE FROM api_secretfingerprint")
        session.commit()
        with a_database(tables=False) as other:
            for url in (emptied, other):
                with pytest.raises(BackupError, match="check DATABASE_URL and DATA_DIR"):
                    making.make(url, tmp_path / "backup", kind=kind, say=silent)
    assert not list(tmp_path.iterdir())


def test_a_backup_of_a_database_that_is_not_the_service_s_is_refused(copy: Path) -> None:
    rewrite(copy, fingerprints={})
    with pytest.raises(BackupError, match="no service has run with"):
        checking.check(copy)


def test_a_backup_that_fails_leaves_nothing(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(manifest, "measure", full)
    with pytest.raises(BackupError, match="No space left"):
        making.make(source, tmp_path / "backup", kind=LOGICAL, say=silent)
    assert not list(tmp_path.iterdir())


def test_a_server_that_does_not_answer_is_refused_without_its_password(tmp_path: Path) -> None:
    url = "postgresql://user:s3cr@127.0.0.1:1/name"
    with pytest.raises(BackupError, match="does not answer") as refusal:
        making.make(url, tmp_path / "backup", kind=PHYSICAL, say=silent)
    assert "s3cr" not in str(refusal.value)


def test_a_program_of_another_version_is_not_used() -> None:
    assert programs.find("pg_dump", major=18).is_file()
    with pytest.raises(BackupError, match="PostgreSQL 99"):
        programs.find("pg_basebackup", major=99)


def test_the_password_is_not_an_argument_of_a_program() -> None:
    seen: list[str] = []
    programs.run(Path("/bin/echo"), url="postgresql://user:s3cr@host/name", say=seen.append)
    assert "user=user" in seen[0]
    assert "s3cr" not in seen[0]


def rows(url: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as session:
        return session.execute("SELECT name FROM api_secretfingerprint").fetchall()


def test_a_logical_backup_is_restored_into_an_empty_database_and_replaces_one_only_by_force(
    backups: dict[str, Path],
) -> None:
    found = checking.check(backups[LOGICAL])
    with a_database(tables=False) as url:
        logical.restore(backups[LOGICAL], found, url, force=False, say=silent)
        assert rows(url) == [("ROOT_KEY",)]
        with psycopg.connect(url) as session:
            first = session.execute("SELECT cluster, generation FROM changes_changelog").fetchone()
            session.execute("CREATE TABLE more (id int); DELETE FROM api_secretfingerprint")
        assert first
        assert first[0] == ""
        with pytest.raises(BackupError, match="--force"):
            logical.restore(backups[LOGICAL], found, url, force=False, say=silent)
        assert rows(url) == []
        logical.restore(backups[LOGICAL], found, url, force=True, say=silent)
        assert rows(url) == [("ROOT_KEY",)]
        with psycopg.connect(url) as session:
            tables = session.execute("SELECT tablename FROM pg_tables WHERE schemaname !~ '^(pg_|information)'")
            assert ("more",) not in tables.fetchall()


def test_a_restore_that_fails_or_is_in_use_leaves_the_database_as_it_was(
    backups: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = checking.check(backups[LOGICAL])
    with a_database() as url:
        with (
            psycopg.connect(make_conninfo(url, application_name="community-messaging")),
            pytest.raises(BackupError, match="stop it on every host, restart its PgBouncer"),
        ):
            logical.restore(backups[LOGICAL], found, url, force=True, say=silent)
        with psycopg.connect(url) as session:
            session.execute("CREATE TABLE more (id int)")

        def fail(*_arguments: object) -> None:
            raise BackupError("pg_restore failed")

        monkeypatch.setattr(logical, "_load", fail)
        with pytest.raises(BackupError, match="pg_restore failed"):
            logical.restore(backups[LOGICAL], found, url, force=True, say=silent)
        with psycopg.connect(url) as session:
            assert session.execute("SELECT count(*) FROM more").fetchone() == (0,)


def test_a_moment_that_cannot_be_reached_is_refused(backups: dict[str, Path]) -> None:
    for archive, until, message in [
        (None, timedelta(seconds=-1), "--until needs the archive"),
        (Path("/"), timedelta(days=-9), "use an earlier backup"),
        (Path("/"), timedelta(days=1), "in the future"),
    ]:
        found = manifest.read(backups[PHYSICAL])
        with pytest.raises(BackupError, match=message):
            restoring._check_target(found, restoring.Target(archive, datetime.now(UTC) + until))


def test_wrong_arguments_are_refused_in_one_sentence(backups: dict[str, Path]) -> None:
    for arguments in [
        *(("--until", text) for text in ("yesterday", "2026-03-01T12:00:00", "")),
        ("--timeline", "-1"),
        ("--timeline", ""),
    ]:
        option, text = arguments
        assert f"{option} is {text!r}: " in refused("restore", str(backups[LOGICAL]), option, text), arguments


def test_an_archive_that_is_none_is_refused(backups: dict[str, Path]) -> None:
    for folder, says in [("", "--wal is empty"), ("/no", "/no is no folder")]:
        assert says in refused("restore", str(backups[LOGICAL]), "--wal", folder), (folder, says)


def test_a_physical_backup_is_not_restored_to_a_server_of_ones_own(backups: dict[str, Path]) -> None:
    assert "DATABASE_URL names a server of your own" in refused("restore", str(backups[PHYSICAL]))
