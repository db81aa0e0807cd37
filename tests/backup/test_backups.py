"""`backup` and `restore`: one file, whole or refused; a restore is complete, or the old data is back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from kernel.changes.restored import GENERATION_MAX
from runtime import backups
from runtime.backups import BackupError, backup, begin_again, program, restore
from runtime.data_folder import sole_use
from tests.backup.database import a_database, begin_again_by_hand
from tests.commands.running import refused, run

pytestmark = [pytest.mark.slow, pytest.mark.processes]

OF_A_CRASH = "ALTER SCHEMA public RENAME TO replaced_by_restore; CREATE SCHEMA public"
SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspname IN ('public', 'replaced_by_restore')"
END_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("backups") / "of.dump"
    with a_database() as url:
        backup(url, file)
    return file


@pytest.fixture
def url() -> Iterator[str]:
    """A database with the tables of the backup, and the table `more`."""
    with a_database() as url:
        with psycopg.connect(url) as session:
            session.execute("CREATE TABLE more (id int)")
        yield url


def has_more(url: str) -> bool:
    """Whether the database is as it was; there is no second schema then."""
    with psycopg.connect(url) as session:
        assert session.execute(SCHEMAS).fetchall() == [("public",)]
        return session.execute("SELECT to_regclass('more') IS NOT NULL").fetchone() == (True,)


def test_a_backup_is_restored_into_an_empty_database_and_replaces_one_only_by_force(dump: Path, url: str) -> None:
    with a_database(tables=False) as empty:
        restore(dump, empty, force=False)
        with psycopg.connect(empty) as session:
            assert session.execute("SELECT cluster FROM changes_changelog").fetchall() == [("",)]
            assert session.execute("SELECT count(*) FROM messaging_message").fetchone() == (5000,)
    with pytest.raises(BackupError, match="--force"):
        restore(dump, url, force=False)
    assert has_more(url)
    restore(dump, url, force=True)
    assert not has_more(url)


def test_the_commands_back_up_and_restore_a_database(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    monkeypatch.setenv("DATABASE_URL", url)
    file = tmp_path / "of.dump"
    assert " MB" in run("backup", str(file))
    assert "is whole" in run("restore", str(file), "--check")
    with psycopg.connect(url) as session:
        session.execute("DROP TABLE more")
    run("restore", str(file), "--force")
    assert has_more(url)
    assert "exists: name a new file" in refused("backup", str(file))
    assert "is no folder" in refused("backup", str(tmp_path / "no" / "file"))
    assert {path.name for path in tmp_path.iterdir()} == {"data", "of.dump"}


def cut_off(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flip_bits(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes(byte ^ 255 for byte in content[middle : middle + 64]) + content[middle + 64 :]


@pytest.mark.parametrize("damage", [cut_off, flip_bits, lambda _content: b""])
def test_a_damaged_backup_is_refused_and_changes_nothing(
    dump: Path, url: str, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    damaged = tmp_path / "damaged"
    damaged.write_bytes(damage(dump.read_bytes()))
    assert "is no whole backup" in refused("restore", str(damaged), "--check")
    with pytest.raises(BackupError, match="pg_restore failed"):
        restore(damaged, url, force=True)
    assert has_more(url)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE api_secretfingerprint SET fingerprint = 'other'", "ROOT_KEY is not of the service"),
        ("INSERT INTO django_migrations VALUES ('messaging', '9999_later')", r"migration messaging\.9999_later"),
        ("DELETE FROM api_secretfingerprint", "no service has run with"),
    ],
)
def test_a_backup_of_another_service_or_release_is_refused_and_changes_nothing(
    url: str, tmp_path: Path, statement: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_database() as other:
        with psycopg.connect(other) as session:
            session.execute(statement.encode())
        monkeypatch.setattr(backups, "_fingerprints", lambda _session: {"ROOT_KEY": b""})
        backup(other, tmp_path / "of.dump")
        monkeypatch.undo()
    with pytest.raises(BackupError, match=says):
        restore(tmp_path / "of.dump", url, force=True)
    assert has_more(url)


def test_a_database_that_is_not_the_service_s_is_not_backed_up(tmp_path: Path) -> None:
    with a_database(tables=False) as other, pytest.raises(BackupError, match="check DATABASE_URL and DATA_DIR"):
        backup(other, tmp_path / "of.dump")
    assert not list(tmp_path.iterdir())


def test_a_backup_that_fails_leaves_nothing(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backups, "run", full)
    with pytest.raises(BackupError, match="No space left"):
        backup(url, tmp_path / "of.dump")
    assert not list(tmp_path.iterdir())


def test_a_service_that_starts_or_has_no_database_is_not_backed_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.delenv("DATABASE_URL")
    settings.DATA_DIR = tmp_path
    assert f"{tmp_path} has no database" in refused("backup", str(tmp_path / "of.dump"))
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("18\n")
    with sole_use(tmp_path):
        assert f"uses {tmp_path}" in refused("backup", str(tmp_path / "of.dump"))


def test_a_restore_into_a_database_in_use_is_refused(dump: Path, url: str) -> None:
    with (
        psycopg.connect(make_conninfo(url, application_name="community-messaging")),
        pytest.raises(BackupError, match="stop it on every host, restart its PgBouncer"),
    ):
        restore(dump, url, force=True)
    assert has_more(url)


def test_a_restore_takes_longer_than_the_role_allows_a_statement(
    dump: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(url) as session:
        session.execute(f"ALTER DATABASE {session.info.dbname} SET statement_timeout = '500ms'".encode())
    monkeypatch.setattr(backups, "STATISTICS", "SELECT pg_sleep(1)")
    restore(dump, url, force=True)
    assert not has_more(url)


def test_old_data_is_back_if_the_session_is_lost(dump: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_arguments: object, **_options: object) -> None:
        with psycopg.connect(url) as session:
            session.execute(END_OTHERS)
        raise BackupError("pg_restore failed")

    monkeypatch.setattr(backups, "run", crash)
    with pytest.raises(BackupError, match="pg_restore failed"):
        restore(dump, url, force=True)
    assert has_more(url)


def test_old_data_that_a_crash_has_left_aside_is_back_before_the_next_restore(dump: Path, url: str) -> None:
    with psycopg.connect(url) as session:
        session.execute(OF_A_CRASH)
    with pytest.raises(BackupError, match="--force"):
        restore(dump, url, force=False)
    assert has_more(url)
    with psycopg.connect(url) as session:
        session.execute(OF_A_CRASH)
    restore(dump, url, force=True)
    assert not has_more(url)


def test_a_restore_does_not_choose_between_two_databases_that_a_crash_has_left(dump: Path, url: str) -> None:
    with psycopg.connect(url) as session:
        session.execute(OF_A_CRASH + "; CREATE TABLE loaded (id int)")
    with pytest.raises(BackupError, match="DROP SCHEMA"):
        restore(dump, url, force=True)
    with psycopg.connect(url) as session:
        for table in ("public.loaded", "replaced_by_restore.more"):
            assert session.execute("SELECT to_regclass(%s) IS NOT NULL", [table]).fetchone() == (True,)


@pytest.mark.parametrize("begin", [begin_again, begin_again_by_hand])
def test_two_restores_of_a_backup_begin_different_generations(
    url: str, begin: Callable[[psycopg.Connection[tuple[Any, ...]]], None]
) -> None:
    generations = set()
    with psycopg.connect(url) as session:
        for _ in range(5):
            begin(session)
            rows = session.execute("SELECT generation FROM changes_changelog WHERE cluster = ''").fetchall()
            generations |= {generation for (generation,) in rows}
    assert len(generations) > 1
    assert max(generations) < GENERATION_MAX


def test_a_server_that_does_not_answer_is_refused_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="does not answer") as refusal:
        backup("postgresql://user:s3cr@127.0.0.1:1/name", tmp_path / "of.dump")
    assert "s3cr" not in str(refusal.value)


def test_a_program_of_another_version_is_not_used_and_gets_no_password_as_argument() -> None:
    assert program("pg_dump", 18).is_file()
    with pytest.raises(BackupError, match="PostgreSQL 99"):
        program("pg_dump", 99)
    said = backups.run(Path("/bin/echo"), url="postgresql://user:s3cr@host/name")
    assert "user=user" in said
    assert "s3cr" not in said
