from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runtime.backups import BackupError, making
from runtime.backups.programs import LOGICAL, PHYSICAL, Progress, database_url, ended_by_signals
from runtime.data_folder import CannotRun
from runtime.postgres_binaries import PostgresError


class Command(BaseCommand):
    help = (
        "Back up the database while the service runs, to a new folder. Secrets are not in it: store them elsewhere. "
        "The folder gets its name when it is complete; an interrupted run leaves none."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("to", metavar="TO", help="a folder that does not exist or is empty")
        parser.add_argument(
            "--logical",
            action="store_true",
            help="a dump of this database (pg_dump), for any server of this version or a newer one; by default a copy "
            "of the whole server (pg_basebackup), which is faster and may be restored to a later moment",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        to, kind = Path(options["to"]).absolute(), LOGICAL if options["logical"] else PHYSICAL
        progress = Progress(self.stderr if options["verbosity"] else None)
        try:
            making.check_target(to)
            with ended_by_signals(), database_url() as url:
                written = making.make(url, to, kind=kind, say=progress)
        except (BackupError, PostgresError, CannotRun) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"{to}: {kind}, {written.bytes / 1e6:.1f} MB in {written.files} files, release {written.release}, "
            f"complete as of {written.finished_at if kind == PHYSICAL else written.started_at}"
        )
