from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runtime.backups import BackupError, backup, database_url, ended_by_signals
from runtime.data_folder import CannotRun
from runtime.postgres_binaries import PostgresError


class Command(BaseCommand):
    help = (
        "Back up the database while the service runs, to a new file (pg_dump). Secrets are not in it: store them "
        "elsewhere. The file gets its name when it is complete; an interrupted run leaves none."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("to", metavar="TO", help="a file that does not exist")

    def handle(self, *args: Any, **options: Any) -> None:
        to = Path(options["to"]).absolute()
        try:
            with ended_by_signals(), database_url() as url:
                backup(url, to)
        except (BackupError, PostgresError, CannotRun) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{to}: {to.stat().st_size / 1e6:.1f} MB")
