"""The restore of a logical backup is complete, or the old data is back, also after a crash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from runtime.backups import BackupError, logical, making, restoring
from runtime.backups.programs import LOGICAL
from tests.backup.database import a_database

pytestmark = [pytest.mark.slow, pytest.mark.processes]

OF_A_CRASH = "ALTER SCHEMA public RENAME TO replaced_by_restore; CREATE SCHEMA public"
SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspname IN ('public', 'replaced_by_restore')"
END_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backups") / LOGICAL
    with a_database() as url:
        making.make(url, folder, kind=LOGICAL, say=lambda _line: None)
    return folder


@pytest.fixture
def url() -> Iterator[str]:
    """A database with the tables of the backup, and the table `more`."""
    with a_database() as url:
        with psycopg.connect(url) as session:
            session.execute("CREATE TABLE more (id int)")
        yield url


def restore(backup: Path, url: str, *, force: bool) -> None:
    logical.restore(backup, restoring.check(backup), url, force=force, say=lambda _line: None)


def has_more(url: str) -> bool:
    """Whether the database is as it was; there is no second schema then."""
    with psycopg.connect(url) as session:
        assert session.execute(SCHEMAS).fetchall() == [("public",)]
        row = session.execute("SELECT to_regclass('more') IS NOT NULL").fetchone()
        return row == (True,)


def test_a_restore_takes_longer_than_the_role_allows_a_statement(
    backup: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(url) as session:
        session.execute(f"ALTER DATABASE {session.info.dbname} SET statement_timeout = '500ms'".encode())
    monkeypatch.setattr(logical, "STATISTICS", "SELECT pg_sleep(1)")
    restore(backup, url, force=True)
    assert not has_more(url)


def test_old_data_is_back_if_the_session_is_lost(backup: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_arguments: object) -> None:
        with psycopg.connect(url) as session:
            session.execute(END_OTHERS)
        raise BackupError("pg_restore failed")

    monkeypatch.setattr(logical, "_load", crash)
    with pytest.raises(BackupError, match="pg_restore failed"):
        restore(backup, url, force=True)
    assert has_more(url)


def test_old_data_that_a_crash_has_left_aside_is_back_before_the_next_restore(backup: Path, url: str) -> None:
    with psycopg.connect(url) as session:
        session.execute(OF_A_CRASH)
    with pytest.raises(BackupError, match="--force"):
        restore(backup, url, force=False)
    assert has_more(url)
    with psycopg.connect(url) as session:
        session.execute(OF_A_CRASH)
    restore(backup, url, force=True)
    assert not has_more(url)


def test_a_restore_does_not_choose_between_two_databases_that_a_crash_has_left(backup: Path, url: str) -> None:
    with psycopg.connect(url) as session:
        session.execute(OF_A_CRASH + "; CREATE TABLE loaded (id int)")
    with pytest.raises(BackupError, match="DROP SCHEMA"):
        restore(backup, url, force=True)
    with psycopg.connect(url) as session:
        for table in ("public.loaded", "replaced_by_restore.more"):
            assert session.execute("SELECT to_regclass(%s) IS NOT NULL", [table]).fetchone() == (True,)
