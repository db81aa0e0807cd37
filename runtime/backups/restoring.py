"""Restores a physical backup into the data folder of the embedded PostgreSQL, if asked as of a point in time.

The files are copied and recovered in a folder of their own, which replaces that of the data only when the recovery has
ended well. A recovery always begins a new timeline of PostgreSQL, by which the change log notices it.

Whether a recovery has ended where the archive of the log ends, and not at a file that is missing or damaged.

Starts a server that recovers, waits for its end, and says in one sentence why it failed.

Checks a backup before anything is replaced.

What a restored database needs before it serves: readers of its change log have read rows that it may lack.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from django.db.migrations.loader import MigrationLoader

from kernel import fingerprints
from kernel.changes.restored import BEGIN_AGAIN, GENERATION_MAX
from runtime import postgres_binaries, sockets, wal_archive
from runtime.backups import BackupError, programs
from runtime.backups import programs as files
from runtime.backups import programs as manifest
from runtime.backups.making import check_space
from runtime.backups.programs import PHYSICAL, Manifest
from runtime.postgres import Cluster
from runtime.postgres_binaries import PostgresError

ARCHIVED = re.compile(r"([0-9A-F]{24})\.gz")
# A file is named by its timeline, 8 digits, and its place in the log. At a limit of two files, the first one was read.
READ = "SELECT right(pg_walfile_name(%s::pg_lsn - 1), 16), pg_last_xact_replay_timestamp()::text"


def archived(archive: Path) -> list[str]:
    """The files of the log in an archive, in their order. For a list before the recovery: the archive may grow."""
    return sorted(found[1] for path in archive.iterdir() if (found := ARCHIVED.fullmatch(path.name)))


def check_log_end(session: psycopg.Connection[Any], folder: Path, files: list[str]) -> None:
    """Raises BackupError if `files` has later ones than the recovery of the server in `folder` has read."""
    # The last line of the newest history says where the recovery has ended, and on which timeline.
    history = max((folder / "pg_wal").glob("*.history"))
    timeline, end, _reason = history.read_text().strip().splitlines()[-1].split("\t", 2)
    place, moment = session.execute(READ, [end]).fetchone() or ("", "")
    last = f"{int(timeline):08X}{place}"
    if later := [name for name in files if name[:8] == last[:8] and name > last]:
        raise BackupError(
            f"The archive has {later[0]}, and the recovery ended before it, in {last}: a file is missing or damaged. "
            f"Put it back, or restore with --until a moment before {moment or 'then'}."
        )


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


def check(folder: Path) -> Manifest:
    """Raises BackupError if the backup is not whole, was altered, or is of a newer release."""
    found = manifest.read(folder)
    manifest.check_file(folder, found)
    if not found.fingerprints:
        raise BackupError(f"{folder} is of a database that no service has run with: use another backup.")
    if found.kind == PHYSICAL:
        files.verify(folder / manifest.CONTENTS[PHYSICAL], found.log)
    else:
        _verify_dump(folder, found)
    known = {f"{app}.{name}" for app, name in MigrationLoader(None, ignore_no_migrations=True).disk_migrations}
    if unknown := [name for name in found.migrations if name not in known]:
        raise BackupError(
            f"The backup is of release {found.release}, whose migration {unknown[0]} this release does not have: "
            "restore it with that release or a newer one."
        )
    return found


def check_secrets(found: Manifest, *, data: Path, debug: bool, goes_on: bool = False) -> None:
    """Raises BackupError if a secret of this host is not one that the database of the backup was used with.

    `goes_on`: a restore would go on with later changes, which may be of other secrets.
    """
    stored = {name: bytes.fromhex(value) for name, value in found.fingerprints.items()}
    if wrong := fingerprints.unknown(stored, data=data, debug=debug):
        raise BackupError(
            f"{' and '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not of the service that this backup is of: "
            "restore its secrets first (the environment, or secrets.json in DATA_DIR)"
            f"{', unless they were rotated since: then make a new backup' if goes_on else ''}."
        )


def _verify_dump(folder: Path, found: Manifest) -> None:
    program = programs.find("pg_restore", major=found.postgres, or_newer=True)
    programs.run(program, "--list", folder / manifest.CONTENTS[found.kind])


TABLE = "SELECT to_regclass('public.changes_changelog')"


def begin_again(session: psycopg.Connection[Any]) -> None:
    """Make all cursors of before invalid.

    The generation is random: a backup that is restored twice must not accept the cursors of its first restore.
    """
    row = session.execute(TABLE).fetchone()
    if row and row[0] is not None:
        session.execute(BEGIN_AGAIN.encode(), {"generation": secrets.randbelow(GENERATION_MAX)})
        session.commit()


# What a server of another kind of set-up says about itself, and the embedded one must not.
NOT_OF_THE_EMBEDDED = {"synchronous_standby_names": "", "primary_conninfo": "", "primary_slot_name": "", "ssl": "off"}
# Before the restore is accepted, its log waits to be archived. A server with readers would need at least the
# `max_connections` of the server that was backed up.
OF_A_DRAFT = NOT_OF_THE_EMBEDDED | {"archive_command": "", "archive_library": "", "hot_standby": "off"}


@dataclass(frozen=True, slots=True)
class Target:
    """Up to which change: `until` a time, or all of the `archive` of the log; without an archive, the backup's own end.

    `timeline`: `latest`, or a number for a history that an earlier restore has left.
    """

    archive: Path | None = None
    until: datetime | None = None
    timeline: str = "latest"


class _Draft(Cluster):
    """It has the databases of the backup only."""

    def _await_recovery(self) -> None:
        """`recovering` waits, and says how far it is."""

    def _make_database(self) -> None:
        """During the recovery, nothing can be created."""


def restore(
    folder: Path, found: Manifest, cluster: Cluster, target: Target, *, debug: bool, say: Callable[[str], None]
) -> None:
    """Replace the data folder of `cluster`, which does not run. Raises BackupError, and leaves it as it was then."""
    _check_target(found, target)
    check_space(cluster.folder.parent, found.bytes)
    draft = _Draft(cluster.folder.with_name("postgres.restored"), cluster.settings | OF_A_DRAFT)
    is_to_end = target.archive is not None and target.until is None
    files = archived(target.archive) if target.archive and is_to_end else []
    draft.stop("immediate")
    shutil.rmtree(draft.folder, ignore_errors=True)
    try:
        say(f"Copying {found.bytes / 1e6:.0f} MB …")
        _copy(folder / programs.CONTENTS[PHYSICAL], draft.folder)
        own_settings = _aim(draft.folder, target)
        say("Recovering …")
        recover(draft, target.archive, say)
        with psycopg.connect(draft.url) as session:
            check_log_end(session, draft.folder, files)
            fingerprints.check(session.cursor(), data=cluster.folder.parent, debug=debug)
            begin_again(session)
        draft.stop()
        (draft.folder / "postgresql.auto.conf").write_text(own_settings)
        os.sync()
        _replace(cluster.folder, draft.folder)
    except (PostgresError, OSError) as error:
        raise BackupError(f"The backup cannot be restored: {error}") from error
    finally:
        draft.stop("immediate")
        shutil.rmtree(draft.folder, ignore_errors=True)


def _check_target(found: Manifest, target: Target) -> None:
    if target.until is None:
        return
    if target.archive is None:
        raise BackupError("--until needs the archive of the log: name it with --wal, or set WAL_ARCHIVE.")
    if target.until < datetime.fromisoformat(found.finished_at):
        raise BackupError(f"The backup ended at {found.finished_at}: for an earlier moment, use an earlier backup.")
    if target.until > datetime.now(UTC):
        raise BackupError("--until is in the future: name a moment that has passed.")


def _copy(source: Path, to: Path) -> None:
    shutil.copytree(source, to, symlinks=True)
    # Of the server before.
    for name in ("log", "postmaster.opts", "backup_manifest", "standby.signal", f"{sockets.NAME}.lock"):
        (to / name).unlink(missing_ok=True)
    for name in ("postgresql.conf", "pg_ident.conf"):
        (to / name).touch()
    # As of a server that `Cluster` makes: only the owner can open the socket.
    (to / "pg_hba.conf").write_text("local all all trust\nlocal replication all trust\n")


def _aim(folder: Path, target: Target) -> str:
    """Write the settings of the recovery. Returns those that the folder has without them."""
    file = folder / "postgresql.auto.conf"
    own = file.read_text() if file.exists() else ""
    settings = {
        "restore_command": wal_archive.restore_command(target.archive) if target.archive else "false",
        "recovery_target_timeline": target.timeline if target.archive else "current",
        "recovery_target_action": "promote",
        # Restored as it was, also where the archive is of another machine.
        "recovery_target": "" if target.archive else "immediate",
        "recovery_target_time": target.until.astimezone(UTC).isoformat() if target.until else "",
    }
    lines = "".join(f"{name} = {_quoted(value)}\n" for name, value in settings.items())
    file.write_text(own + lines)
    (folder / "recovery.signal").touch()
    _give_to_owner(folder)
    return own


def _replace(folder: Path, by: Path) -> None:
    old = folder.with_name("postgres.replaced")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    by.rename(folder)
    os.sync()
    shutil.rmtree(old, ignore_errors=True)


def _give_to_owner(folder: Path) -> None:
    folder.chmod(0o700)
    if os.geteuid() == 0:
        user = postgres_binaries.owner()
        subprocess.run(["chown", "-R", f"{user.pw_uid}:{user.pw_gid}", folder], check=True)


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
