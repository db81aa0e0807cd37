"""Restores a logical backup into a database, embedded or not. A failure leaves the database as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from runtime.backups import BackupError, programs
from runtime.backups import programs as manifest
from runtime.backups.making import connection
from runtime.backups.programs import LOGICAL, Manifest
from runtime.backups.restoring import begin_again

TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
SERVICES = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'community-messaging'
"""
# The old data until the new one is complete.
REPLACED = "replaced_by_restore"
MOVE_AWAY = f"ALTER SCHEMA public RENAME TO {REPLACED}; CREATE SCHEMA public"
MOVE_BACK = f"DROP SCHEMA IF EXISTS public CASCADE; ALTER SCHEMA {REPLACED} RENAME TO public"
FORGET = f"DROP SCHEMA {REPLACED} CASCADE"
LEFT = f"SELECT count(to_regnamespace('{REPLACED}'))"
STATISTICS = "ANALYZE"


def restore(folder: Path, found: Manifest, url: str, *, force: bool, say: Callable[[str], None]) -> None:
    """Raises BackupError if the database is in use or, without `force`, not empty."""
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
        program = programs.find("pg_restore", major=session.info.server_version // 10_000, or_newer=True)
        if has_tables:
            session.execute(MOVE_AWAY.encode())
    try:
        _load(program, folder, found, url, say)
        with connection(url) as session:
            begin_again(session)
    except BaseException:
        if has_tables:
            with connection(url) as session:
                session.execute(MOVE_BACK.encode())
        raise
    with connection(url) as session:
        if has_tables:
            session.execute(FORGET.encode())
        session.execute(STATISTICS.encode())


def _undo_interrupted(session: psycopg.Connection[Any]) -> None:
    """Move the old data back that a killed restore has left aside. Raises BackupError if it has been replaced since."""
    if not _count(session, LEFT):
        return
    if _count(session, TABLES):
        raise BackupError(
            f"An interrupted restore has left the old data in the schema {REPLACED}, and public has tables, too: "
            f"`DROP SCHEMA {REPLACED} CASCADE` if these are right, else `{MOVE_BACK}`; then restore."
        )
    session.execute(MOVE_BACK.encode())


def _load(program: Path, folder: Path, found: Manifest, url: str, say: Callable[[str], None]) -> None:
    """In one transaction."""
    dump = folder / manifest.CONTENTS[found.kind]
    options = ("--single-transaction", "--no-owner", "--no-privileges", "--verbose")
    try:
        # The schema exists already.
        programs.run(program, *options, "--schema=public", dump, url=url, say=say)
    except BackupError as error:
        raise BackupError(f"The {LOGICAL} backup cannot be restored: {error}") from error


def _count(session: psycopg.Connection[Any], statement: str) -> int:
    row = session.execute(statement.encode()).fetchone()
    return int(row[0]) if row else 0
