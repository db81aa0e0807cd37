from __future__ import annotations

from argparse import ArgumentParser
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError

from config import env
from runtime import wal_archive
from runtime.backups import BackupError, logical, restoring
from runtime.backups import restoring as checking
from runtime.backups.programs import LOGICAL, Manifest, Progress, database_url, ended_by_signals
from runtime.data_folder import CannotRun, sole_use
from runtime.postgres import embedded
from runtime.postgres_binaries import PostgresError


class Command(BaseCommand):
    help = (
        "Restore a backup. The service must be stopped, and its secrets be those of the backup. The old data is "
        "replaced when the new one is complete; an interrupted run changes nothing. After one that was killed, run it "
        "again before the service starts."
    )
    # The database may be away.
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", metavar="FROM", help="the folder of a backup")
        parser.add_argument("--force", action="store_true", help="replace a database that is not empty")
        parser.add_argument("--check", action="store_true", help="check the backup, and restore nothing")
        parser.add_argument(
            "--wal",
            metavar="DIR",
            help="the archive of the log: restore all that it has, not only the backup (default: WAL_ARCHIVE)",
        )
        parser.add_argument(
            "--until",
            metavar="TIME",
            help="restore what was committed until this moment, such as 2026-03-01T12:00:00Z; needs the archive",
        )
        parser.add_argument(
            "--timeline",
            default="latest",
            help="the number of a history in the archive, to go back to one before an earlier restore; default: latest",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        source = Path(options["source"]).absolute()
        self._progress = Progress(self.stderr if options["verbosity"] else None)
        try:
            target = self._target(options)
            found = checking.check(source)
            # A restore with the archive compares those of its end, as they may have been rotated after the backup.
            goes_on = target.archive is not None and found.kind != LOGICAL
            if options["check"] or not goes_on:
                checking.check_secrets(found, data=settings.DATA_DIR, debug=settings.DEBUG, goes_on=goes_on)
            if options["check"]:
                self.stdout.write(f"{source} is whole: {found.kind}, complete as of {found.finished_at}")
                return
            with ended_by_signals(), sole_use(settings.DATA_DIR):
                restore = self._logical if found.kind == LOGICAL else self._physical
                restore(source, found, target, force=options["force"])
        except (BackupError, PostgresError, CannotRun, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"Restored {source}. Start the service; clients that follow changes begin again.")

    def _logical(self, source: Path, found: Manifest, target: restoring.Target, *, force: bool) -> None:
        if target.until is not None:
            raise BackupError("--until needs a physical backup: a dump is of one moment.")
        with database_url(to_restore=True) as url:
            logical.restore(source, found, url, force=force, say=self._progress)

    def _physical(self, source: Path, found: Manifest, target: restoring.Target, *, force: bool) -> None:
        if env.text("DATABASE_URL"):
            raise BackupError(
                "DATABASE_URL names a server of your own, and a physical backup is a whole server: copy its folder "
                "`postgres` to the data folder of that server (docs/operations.md), or restore a logical backup."
            )
        cluster = embedded(settings.DATA_DIR)
        if cluster.is_running():
            raise BackupError("PostgreSQL still runs: stop the service, then restore.")
        if cluster.is_made() and not force:
            raise BackupError(f"{cluster.folder} is not empty: choose another DATA_DIR, or replace it with --force.")
        restoring.restore(source, found, cluster, target, debug=settings.DEBUG, say=self._progress)

    def _target(self, options: dict[str, Any]) -> restoring.Target:
        if options["wal"] == "":
            raise BackupError("--wal is empty: name the archive of the log.")
        archive = Path(options["wal"]).absolute() if options["wal"] else wal_archive.folder()
        if archive is not None and not archive.is_dir():
            raise BackupError(f"{archive} is no folder: name the archive of the log with --wal.")
        timeline = str(options["timeline"])
        if timeline != "latest" and not (timeline.isascii() and timeline.isdigit() and int(timeline)):
            raise BackupError(f"--timeline is {timeline!r}: write a number such as 1, or latest.")
        return restoring.Target(archive, _moment(options["until"]), timeline)


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise BackupError(f"--until is {text!r}: write a time with its zone, such as 2026-03-01T12:00:00Z.")
    return moment
