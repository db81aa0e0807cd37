"""A backup of the database is one file of `pg_dump`. Backups with a point in time are barman's (docs/operations.md).

The secrets are not in it. A restore leaves the old data aside until the new one is complete and fits this release and
its secrets.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.db.migrations.loader import MigrationLoader
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from config import env
from kernel import fingerprints
from kernel.changes.restored import BEGIN_AGAIN, GENERATION_MAX
from kernel.database import deployment
from runtime import postgres_binaries, processes
from runtime.data_folder import postgres_of_command
from runtime.postgres import embedded
from runtime.postgres_binaries import PostgresError

INSTALLED = "/usr/lib/postgresql"
# How much of the output of a program that fails is shown.
OUTPUT_MAX = 400
FINGERPRINTS = "SELECT name, fingerprint FROM api_secretfingerprint"
MIGRATIONS = "SELECT app || '.' || name FROM django_migrations ORDER BY 1"
UNLIMITED = "SET statement_timeout = 0; SET lock_timeout = 0"
TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
SERVICES = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'community-messaging'
"""
# The schema has the old data until the new one is complete.
REPLACED = "replaced_by_restore"
MOVE_AWAY = f"ALTER SCHEMA public RENAME TO {REPLACED}; CREATE SCHEMA public"
MOVE_BACK = f"DROP SCHEMA IF EXISTS public CASCADE; ALTER SCHEMA {REPLACED} RENAME TO public"
FORGET = f"DROP SCHEMA {REPLACED} CASCADE"
LEFT = f"SELECT count(to_regnamespace('{REPLACED}'))"
STATISTICS = "ANALYZE"


class BackupError(Exception):
    """A backup cannot be made or restored. The text is one sentence for people that says what to do."""


def backup(url: str, to: Path) -> None:
    """Dump the database at `url` into the new file `to`, which has its name only when it is complete."""
    if not to.parent.is_dir():
        raise BackupError(f"{to.parent} is no folder: create it, or name another.")
    if to.exists():
        raise BackupError(f"{to} exists: name a new file for each backup.")
    with connection(url) as session:
        major = session.info.server_version // 10_000
        if not _fingerprints(session):
            raise BackupError(
                "The database has no fingerprints of secrets, so no service of this release has run with it: "
                "check DATABASE_URL and DATA_DIR."
            )
    try:
        with tempfile.TemporaryDirectory(prefix=f".{to.name}.", suffix=".part", dir=to.parent) as folder:
            draft = Path(folder) / to.name
            run(program("pg_dump", major), "--format=custom", "--schema=public", f"--file={draft}", url=url)
            with draft.open("rb") as written:
                os.fsync(written.fileno())
            draft.rename(to)
    except OSError as error:
        raise BackupError(f"{to} cannot be written ({error.strerror}): name another file.") from error


def check(dump: Path) -> None:
    """Read all of a backup. Raises BackupError if it is none, or was cut off or altered."""
    if not dump.is_file():
        raise BackupError(f"{dump} is no file: name the file of a backup.")
    try:
        run(program("pg_restore", 0), "--file=/dev/null", dump)
    except BackupError as error:
        raise BackupError(f"{dump} is no whole backup: {error}") from error


def restore(dump: Path, url: str, *, force: bool) -> None:
    """Load a backup into the database at `url`. Raises BackupError, and the database is as it was then.

    Without `force`, the database must be empty.
    """
    with connection(url) as session:
        if _count(session, SERVICES):
            raise BackupError(
                "The service still uses this database: stop it on every host, restart its PgBouncer, if it has one, "
                "which holds idle connections, then restore."
            )
        _undo_interrupted(session)
        has_tables = _count(session, TABLES) > 0
        if has_tables and not force:
            raise BackupError("The database is not empty: restore into an empty one, or replace all with --force.")
        loader = program("pg_restore", session.info.server_version // 10_000)
        session.execute(MOVE_AWAY)
    try:
        # The dump creates nothing but the contents of the schema, which exists already.
        run(loader, "--single-transaction", "--no-owner", "--no-privileges", "--schema=public", dump, url=url)
        with connection(url) as session:
            check_contents(session)
            begin_again(session)
    except BaseException:
        with connection(url) as session:
            session.execute(MOVE_BACK)
        raise
    with connection(url) as session:
        session.execute(FORGET)
        session.execute(STATISTICS)


def check_contents(session: psycopg.Connection[Any]) -> None:
    """Raises BackupError if a restored database is of other secrets, of a newer release, or of no service."""
    stored = _fingerprints(session)
    if not stored:
        raise BackupError("The backup is of a database that no service has run with: use another backup.")
    if wrong := fingerprints.unknown(stored, data=settings.DATA_DIR, debug=settings.DEBUG):
        raise BackupError(
            f"{' and '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not of the service that this backup is of: "
            "restore its secrets first (the environment, or secrets.json in DATA_DIR)."
        )
    known = {f"{app}.{name}" for app, name in MigrationLoader(None, ignore_no_migrations=True).disk_migrations}
    if unknown := [str(name) for (name,) in session.execute(MIGRATIONS) if name not in known]:
        raise BackupError(
            f"The backup is of another release, whose migration {unknown[0]} this release does not have: "
            "restore it with that release or a newer one."
        )


def begin_again(session: psycopg.Connection[Any]) -> None:
    """Make all cursors of before invalid: readers of the change log have read rows that the backup may lack.

    The generation is random: a backup that is restored twice must not accept the cursors of its first restore.
    """
    session.execute(BEGIN_AGAIN.encode(), {"generation": secrets.randbelow(GENERATION_MAX)})


def _undo_interrupted(session: psycopg.Connection[Any]) -> None:
    """Move the old data back that a killed restore has left aside. Raises BackupError if it has been replaced since."""
    if not _count(session, LEFT):
        return
    if _count(session, TABLES):
        raise BackupError(
            f"An interrupted restore has left the old data in the schema {REPLACED}, and public has tables, too: "
            f"`DROP SCHEMA {REPLACED} CASCADE` if these are right, else `{MOVE_BACK}`; then restore."
        )
    session.execute(MOVE_BACK)


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


@contextmanager
def database_url(*, to_restore: bool = False) -> Iterator[str]:
    """The connection string of the database. An embedded PostgreSQL that does not run is started for the block.

    `to_restore`: also a new one; the caller has sole use of DATA_DIR. Raises CannotRun if another process starts it.

    Of several hosts, the one that takes writes: standbys may lack acknowledged ones. `DATABASE_DIRECT_URL` is first:
    a pooler does not pass on the sessions of a dump.
    """
    if env.text("DATABASE_DIRECT_URL") or env.text("DATABASE_URL"):
        yield make_conninfo("", **deployment.session_parameters(""))
        return
    if not (to_restore or embedded(settings.DATA_DIR).is_made()):
        raise BackupError(f"{settings.DATA_DIR} has no database: set DATA_DIR or DATABASE_URL to that of the service.")
    with postgres_of_command(settings.DATA_DIR, is_locked=to_restore):
        yield embedded(settings.DATA_DIR).url


def program(name: str, major: int, *, or_newer: bool = True) -> Path:
    """A program of PostgreSQL of this major version: that of the wheel, or an installed one."""
    for folder in _folders():
        file = folder / name
        found = _major(file) if file.is_file() and os.access(file, os.X_OK) else 0
        if found == major or (or_newer and found > major):
            return file
    raise BackupError(
        f"The server is PostgreSQL {major}, and its program {name} is not here: install the programs of PostgreSQL "
        f"{major} on this host."
    )


def run(file: Path, *arguments: str | Path, url: str = "") -> str:
    """Run a program to its end and return its output. Raises BackupError with what it said.

    The password of `url` is in the environment of the program, where other users do not see it.
    """
    parts = conninfo_to_dict(url) if url else {}
    password = parts.pop("password", None)
    address = [f"--dbname={make_conninfo('', **parts)}"] if url else []
    with tempfile.TemporaryFile("w+") as output:
        status = processes.run(
            [file, *address, *arguments],
            ended_by=signal.SIGTERM,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=os.environ | ({"PGPASSWORD": str(password)} if password else {}),
            cwd="/",
            start_new_session=True,
        )
        output.seek(0)
        said = output.read()
    if status:
        errors = [line for line in said.splitlines() if re.search("error|fatal", line, re.IGNORECASE)]
        raise BackupError(f"{file.name} failed: {'; '.join(errors or said.splitlines())[:OUTPUT_MAX]}")
    return said


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM ends the block like Ctrl-C, so that drafts are deleted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _folders() -> Iterator[Path]:
    with suppress(PostgresError):
        yield postgres_binaries.binaries()
    yield from (Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder)
    yield from sorted(Path(INSTALLED).glob("*/bin"), reverse=True)


def _major(file: Path) -> int:
    said = subprocess.run([file, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\(PostgreSQL\) (\d+)", said)
    return int(found[1]) if found else 0


def _fingerprints(session: psycopg.Connection[Any]) -> dict[str, bytes]:
    try:
        return {str(name): bytes(value) for name, value in session.execute(FINGERPRINTS)}
    except psycopg.errors.UndefinedTable:
        return {}


def _count(session: psycopg.Connection[Any], statement: str) -> int:
    row = session.execute(statement.encode()).fetchone()
    return int(row[0]) if row else 0
