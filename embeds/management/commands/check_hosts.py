from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from embeds.host_proofs import check_hosts


class Command(BaseCommand):
    help = (
        "Look for the TXT records by which communities prove their hosts, with DOMAIN_CHECKS=1: those that moderators "
        "asked for, and others once a week, or once a day while they are missing. Run it hourly. Safe to run twice or "
        "concurrently."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print {checked}")

    def handle(self, *args: Any, **options: Any) -> None:
        checked = check_hosts()
        self.stdout.write(json.dumps({"checked": checked}) if options["json"] else f"{checked} checked.")
