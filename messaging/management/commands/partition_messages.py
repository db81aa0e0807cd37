from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from kernel.database.locks import TableInUse, host_lock
from messaging.posts.partitioning import converting

MONTHS = 24


class Command(BaseCommand):
    help = (
        "Divide the table of posts into partitions by time, while the service runs. The posts that exist become the "
        "first partition, and are not moved. New changes reach streams, inboxes, webhooks and mails late while it "
        "validates constraints, which takes minutes with ten million posts. Safe to stop and to repeat at every step; "
        "housekeeping (`make_partitions`) makes later partitions. docs/scale.md says when to."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--dry-run", action="store_true", help="print the steps and their statements")
        what.add_argument(
            "--undo", action="store_true", help="one table again, while later partitions have no post, or unfinished"
        )
        parser.add_argument(
            "--months",
            type=int,
            default=MONTHS,
            help=f"how much time a partition has: fewer and larger ones are read faster (default {MONTHS})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["months"] < 1:
            raise CommandError("--months is at least 1.")
        try:
            if options["dry_run"]:
                for step in converting.steps(months=options["months"]):
                    self.stdout.write(step)
                return
            # No migration runs meanwhile.
            with host_lock(connection, task="migrates", say=self._say):
                if options["undo"]:
                    converting.undo(say=self._say)
                else:
                    converting.convert(months=options["months"], say=self._say)
        except (converting.CannotConvert, TableInUse) as failure:
            raise CommandError(str(failure)) from None

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
