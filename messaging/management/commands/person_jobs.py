from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from kernel import fingerprints
from messaging.privacy.jobs import run_due_jobs


class Command(BaseCommand):
    help = (
        "Make the exports that people, and the records that super admins have asked for, and erase the people whose "
        "seven days are over. The service runs it for each export and record, and hourly. Any number of hosts may run "
        "it; after a crash the next run goes on."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        fingerprints.require_known_secrets()
        done = run_due_jobs()
        if options["json"]:
            self.stdout.write(json.dumps(done))
            return
        for kind, count in done.items():
            self.stdout.write(f"{kind}: {count} done")
