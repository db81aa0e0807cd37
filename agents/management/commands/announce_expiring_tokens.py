from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from agents.services import announce_expiring_tokens


class Command(BaseCommand):
    help = (
        "Put an event into the inboxes of agents and their operators for each token that expires within 7 days, once "
        "per token. Run it hourly. Safe to run twice or concurrently."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print {announced}")

    def handle(self, *args: Any, **options: Any) -> None:
        announced = announce_expiring_tokens()
        self.stdout.write(json.dumps({"announced": announced}) if options["json"] else f"{announced} announced.")
