from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from desk.models import DailyTotal
from desk.rolling import count_log, recount_days, roll_up_row
from kernel.database.sql import database_now


class Command(BaseCommand):
    help = (
        "Bring the numbers of the admin up to date: posts, reports, requests, refusals and views by day. A running "
        "service does it hourly. Safe to repeat and to run concurrently; after a pause it catches up."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--interval", type=int, metavar="MINUTES", help="when the next run is expected (default: within a day)"
        )

        parser.add_argument("--first", action="store_true", help="do nothing if it was done before")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["first"] and roll_up_row().finished_at is not None:
            return
        roll_up_row()
        while count_log():
            pass
        recount_days(at=database_now(), interval_minutes=options["interval"])
        totals = DailyTotal.objects.count()
        self.stdout.write(json.dumps({"totals": totals}) if options["json"] else f"{totals} totals by day")
