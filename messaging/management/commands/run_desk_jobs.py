from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from messaging.moderation.lists.running import run_due_jobs


class Command(BaseCommand):
    help = (
        "Carry out the jobs of the admin on many rows that no other process carries out at present. The service runs "
        "it when a job is started, and hourly. Any number of hosts may run it; after a crash the next run goes on."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print {finished}")

    def handle(self, *args: Any, **options: Any) -> None:
        finished = run_due_jobs()
        self.stdout.write(json.dumps({"finished": finished}) if options["json"] else f"{finished} jobs finished.")
