"""Restores a physical backup into the data folder of the embedded PostgreSQL, if asked as of a point in time.

The files are copied and recovered in a folder of their own, which replaces that of the data only when the recovery has
ended well. A recovery always begins a new timeline of PostgreSQL, by which the change log notices it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from kernel import fingerprints
from runtime import postgres_binaries, sockets, wal_archive
from runtime.backups import BackupError, log_end, manifest, recovering
from runtime.backups.afterwards import begin_again
from runtime.backups.making import check_space
from runtime.backups.manifest import PHYSICAL, Manifest
from runtime.postgres import Cluster
from runtime.postgres_binaries import PostgresError

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
    files = log_end.archived(target.archive) if target.archive and is_to_end else []
    draft.stop("immediate")
    shutil.rmtree(draft.folder, ignore_errors=True)
    try:
        say(f"Copying {found.bytes / 1e6:.0f} MB …")
        _copy(folder / manifest.CONTENTS[PHYSICAL], draft.folder)
        own_settings = _aim(draft.folder, target)
        say("Recovering …")
        recovering.recover(draft, target.archive, say)
        with psycopg.connect(draft.url) as session:
            log_end.check(session, draft.folder, files)
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
