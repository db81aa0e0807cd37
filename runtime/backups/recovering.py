"""Starts a server that recovers, waits for its end, and says in one sentence why it failed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

from runtime.backups import BackupError
from runtime.postgres import Cluster
from runtime.postgres_binaries import PostgresError

POLL_SECONDS = 0.2
BEFORE_CONSISTENT = "before consistent recovery point"
NOT_REACHED = "recovery ended before configured recovery target was reached"
UNREADABLE = re.compile(r'FATAL: +could not restore file "([^"]+)" from archive')
PROGRESS = "restored log file"
# The answer to a connection meanwhile.
NOT_YET = "the database system is "


def recover(server: Cluster, archive: Path | None, say: Callable[[str], None]) -> None:
    """Returns when the server takes writes. Raises BackupError."""
    try:
        server.start()
    except PostgresError as error:
        raise BackupError(_reason(_said(server), archive)) from error
    while not _takes_writes(server):
        if not server.is_running():
            raise BackupError(_reason(_said(server), archive))
        if restored := [line for line in _said(server).splitlines() if PROGRESS in line]:
            say(restored[-1])
        time.sleep(POLL_SECONDS)


def _takes_writes(server: Cluster) -> bool:
    """It accepts no connection before."""
    try:
        psycopg.connect(server.url).close()
    except psycopg.OperationalError as error:
        if "does not exist" in str(error):
            raise BackupError(f"The backup is not of an embedded PostgreSQL: {error}") from error
        return False
    return True


def _said(server: Cluster) -> str:
    log = server.folder / "log"
    return log.read_text(errors="replace") if log.exists() else ""


def _reason(said: str, archive: Path | None) -> str:
    if archive and (unreadable := UNREADABLE.search(said)):
        return (
            f"{archive / unreadable[1]}.gz cannot be read: see that it is whole, that the user of PostgreSQL may read "
            "it, and that the disk has room."
        )
    if NOT_REACHED in said:
        return (
            f"The archive {archive} has no change after that moment, so it may be incomplete: "
            "restore without --until for all that it has."
        )
    if BEFORE_CONSISTENT in said:
        return "The moment is before the end of the backup: use an earlier backup."
    fatal = [line.partition("FATAL:")[2].strip() for line in said.splitlines() if "FATAL:" in line]
    causes = [line for line in fatal if not line.startswith(NOT_YET)]
    return f"PostgreSQL did not recover: {causes[0] if causes else said[-300:]}"
