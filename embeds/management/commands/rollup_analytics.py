from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from embeds.analytics.rollup import roll_up
from kernel.database.sql import database_now


class Command(BaseCommand):
    help = (
        "Move the raw analytics events of embeds into daily counts. Summaries are exact before and after it; run it "
        "every few minutes to keep them fast. Safe to repeat and to run concurrently."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        moved = roll_up(at=database_now())
        self.stdout.write(json.dumps({"events": moved}) if options["json"] else f"{moved} events rolled up")
