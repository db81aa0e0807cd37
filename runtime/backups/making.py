"""Makes a backup while the service runs."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from config.version import VERSION
from runtime.backups import BackupError, programs
from runtime.backups import programs as files
from runtime.backups import programs as manifest
from runtime.backups.programs import LOGICAL, PHYSICAL, Manifest

TABLE = "SELECT to_regclass('public.api_secretfingerprint')"
FINGERPRINTS = "SELECT name, fingerprint FROM api_secretfingerprint"
MIGRATIONS = "SELECT app || '.' || name FROM django_migrations ORDER BY 1"
UNLIMITED = "SET statement_timeout = 0; SET lock_timeout = 0"
NOW = "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
SYSTEM = "SELECT system_identifier::text FROM pg_control_system()"
# Ends with its session.
SLOT = "SELECT pg_create_physical_replication_slot(%s, immediately_reserve => true, temporary => true)"
NOT_ALLOWED = ("permission denied", "pg_hba", "replication role")
SIZE = {
    # All databases of the server, and what is written meanwhile.
    PHYSICAL: "SELECT sum(pg_database_size(oid))::bigint + 64 * 1024 * 1024 FROM pg_database",
    # Indexes are not in a dump, and it is compressed.
    LOGICAL: "SELECT pg_database_size(current_database()) / 2",
}


@dataclass(frozen=True, slots=True)
class _Server:
    major: int
    system: str
    migrations: list[str]
    fingerprints: dict[str, str]
    now: str


def make(url: str, to: Path, *, kind: str, say: Callable[[str], None]) -> Manifest:
    """Write a backup of the database at `url` to the folder `to`, which has its name only when it is complete.

    Raises BackupError, and leaves nothing then.
    """
    check_target(to)
    before = _ask(url)
    if not before.fingerprints:
        raise BackupError(
            "The database has no fingerprints of secrets, so no service of this release has run with it: "
            "check DATABASE_URL and DATA_DIR."
        )
    _check_space(url, to.parent, kind)
    with _draft(to) as draft:
        _physical(url, draft, before.major, say) if kind == PHYSICAL else _logical(url, draft, before.major, say)
        size, count = manifest.measure(draft)
        written = Manifest(
            kind=kind,
            release=VERSION,
            postgres=before.major,
            system=before.system,
            started_at=before.now,
            finished_at=_ask(url).now,
            bytes=size,
            files=count,
            fingerprints=before.fingerprints,
            migrations=before.migrations,
            checksum=manifest.checksum(draft / manifest.CHECKED[kind]),
            log=files.log_checksums(draft / manifest.CONTENTS[kind]),
        )
        manifest.write(draft, written)
    return written


def check_target(to: Path) -> None:
    if not to.parent.is_dir():
        raise BackupError(f"{to.parent} is no folder: create it, or name another.")
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise BackupError(f"{to} is not empty: name a new folder for each backup.")


def _physical(url: str, draft: Path, major: int, say: Callable[[str], None]) -> None:
    """All files of the server and the part of its log that makes them consistent."""
    program = programs.find("pg_basebackup", major=major)
    try:
        with _stored_log(url):
            programs.run(
                program,
                f"--pgdata={draft / manifest.CONTENTS[PHYSICAL]}",
                "--checkpoint=fast",
                "--wal-method=stream",
                "--manifest-checksums=SHA256",
                "--progress",
                "--no-password",
                url=url,
                say=say,
            )
    except BackupError as error:
        if any(sign in str(error) for sign in NOT_ALLOWED):
            raise BackupError(
                f"{error} A physical backup needs a role with REPLICATION and an entry for it in pg_hba.conf; "
                "`backup --logical` needs neither."
            ) from error
        raise


@contextmanager
def _stored_log(url: str) -> Iterator[None]:
    """The server removes no log that is written in the block.

    pg_basebackup makes a slot of its own, but after the beginning of the backup: a checkpoint between them may remove
    what the backup needs.
    """
    with connection(url) as session:
        try:
            session.execute(SLOT, [f"backup_{uuid4().hex}"])
        except psycopg.Error as error:
            raise BackupError(f"No replication slot can be made: {str(error).splitlines()[0]}.") from error
        yield


def _logical(url: str, draft: Path, major: int, say: Callable[[str], None]) -> None:
    """One database as of one moment, for any server of this version or a newer one."""
    program, file = programs.find("pg_dump", major=major, or_newer=True), draft / manifest.CONTENTS[LOGICAL]
    programs.run(program, "--format=custom", f"--file={file}", "--no-password", "--verbose", url=url, say=say)
    with file.open("rb") as written:
        os.fsync(written.fileno())


def _ask(url: str) -> _Server:
    with connection(url) as session:
        major = session.info.server_version // 10_000
        has_fingerprints = _value(session, TABLE) is not None
        stored: list[Any] = session.execute(FINGERPRINTS).fetchall() if has_fingerprints else []
        return _Server(
            major=major,
            system=str(_value(session, SYSTEM)),
            migrations=[str(row[0]) for row in session.execute(MIGRATIONS)] if has_fingerprints else [],
            fingerprints={name: bytes(value).hex() for name, value in stored},
            now=str(_value(session, NOW)),
        )


def connection(url: str) -> psycopg.Connection[Any]:
    """Raises BackupError if the server does not answer; the text names no password.

    The role may have the timeouts of the service (docs/cluster.md).
    """
    try:
        session = psycopg.connect(url, autocommit=True, connect_timeout=10)
        session.execute(UNLIMITED)
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise BackupError(f"PostgreSQL does not answer ({reason}): start it, or check DATABASE_URL.") from error
    return session


def check_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise BackupError(
            f"{folder} has {free / 1e9:.1f} GB free, and {needed / 1e9:.1f} GB are needed: "
            "free some, or use another disk."
        )


def _check_space(url: str, folder: Path, kind: str) -> None:
    with connection(url) as session:
        check_space(folder, int(_value(session, SIZE[kind]) or 0))


def _value(session: psycopg.Connection[Any], statement: str) -> Any:
    row = session.execute(statement.encode()).fetchone()
    return row[0] if row else None


@contextmanager
def _draft(to: Path) -> Iterator[Path]:
    """A folder beside `to`, renamed to it at the end of the block."""
    try:
        draft = Path(tempfile.mkdtemp(prefix=f".{to.name}.", suffix=".part", dir=to.parent))
    except OSError as error:
        raise BackupError(f"{to.parent} cannot be written ({error.strerror}): name another folder.") from error
    try:
        yield draft
        os.sync()
        draft.rename(to)
        os.sync()
    except OSError as error:
        raise BackupError(f"{to} cannot be written ({error.strerror}): name another folder.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
