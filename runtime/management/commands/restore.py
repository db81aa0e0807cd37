from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from runtime.backups import BackupError, check, database_url, ended_by_signals, restore
from runtime.data_folder import CannotRun, sole_use
from runtime.postgres_binaries import PostgresError


class Command(BaseCommand):
    help = (
        "Restore a file of `backup`. The service must be stopped, and its secrets be those of the backup. The old data "
        "is replaced when the new one is complete; an interrupted run changes nothing. After one that was killed, run "
        "it again before the service starts."
    )
    # The database may be away.
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", metavar="FROM", help="the file of a backup")
        parser.add_argument("--force", action="store_true", help="replace a database that is not empty")
        parser.add_argument("--check", action="store_true", help="read all of the backup, and restore nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        source = Path(options["source"]).absolute()
        try:
            check(source)
            if options["check"]:
                self.stdout.write(f"{source} is whole")
                return
            with ended_by_signals(), sole_use(settings.DATA_DIR), database_url(to_restore=True) as url:
                restore(source, url, force=options["force"])
        except (BackupError, PostgresError, CannotRun) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"Restored {source}. Start the service; clients that follow changes begin again.")
