from __future__ import annotations

import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runtime.backups import BackupError, ended_by_signals
from runtime.drill import SERVER, Barman, report


class Command(BaseCommand):
    help = (
        "Write to BACKUP_REPORT what barman has of this service. Run it as the user of barman, with the environment of "
        "the service. The exit status is 1 if barman has no backup, or if a drill fails."
    )
    # A drill runs beside the service, or where it does not run.
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--drill", action="store_true", help="restore the latest backup into a scratch server first"
        )
        parser.add_argument("--scratch", type=Path, help="where the scratch server gets its folder")
        parser.add_argument("--server", default=SERVER, help="the name of the server in the configuration of barman")
        parser.add_argument("--config", type=Path, help="the configuration of barman (default: that of the system)")

    def handle(self, *args: Any, **options: Any) -> None:
        scratch = (options["scratch"] or Path(tempfile.gettempdir())) if options["drill"] else None
        try:
            with ended_by_signals():
                written = report(Barman(options["server"], options["config"]), drill=scratch)
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from None
        if written["backup"] is None:
            raise CommandError("barman has no finished backup: run `barman backup`, and see `barman check`.")
        for problem in written["problems"]:
            self.stderr.write(f"barman check: {problem}")
        if scratch is not None and written["drill"]["error"]:
            raise CommandError(f"The backup {written['backup']['id']} cannot be restored: {written['drill']['error']}")
        self.stdout.write(f"backup {written['backup']['id']} of {written['backup']['at']}")
        if scratch is not None:
            drill = written["drill"]
            self.stdout.write(
                f"restored with {drill['posts']} posts, the newest of {drill['newestPost']}, in {drill['seconds']} s"
            )
