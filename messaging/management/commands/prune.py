from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.module_loading import import_string

from kernel import fingerprints
from kernel.database.sql import database_now

# Added to every retention period, so that a clock that is set back does not delete rows too early.
MARGIN = timedelta(minutes=5)


class Command(BaseCommand):
    help = (
        "Delete expired data: changes after 30 days, stored responses after 7 days, rate limit events after an hour, "
        "unused pages after 30 days, closed reports and reports of imports after 180 days, salts and raw analytics "
        "events after their retention, expired sign-in tokens, what deleted sites have left, "
        "refused mail addresses that were removed. "
        "Sign-in tokens that an earlier release stored in clear are blanked. During a rotation of ROOT_KEY, the "
        "secrets of webhooks are encrypted again: run it before `rotate_secret ROOT_KEY --finish`. Run it hourly. Safe "
        "to run twice or concurrently."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count rows without deleting them")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        fingerprints.require_known_secrets()
        now, counts = database_now() - MARGIN, {}
        for path in settings.PRUNERS:
            for what, count in import_string(path)(now=now, dry_run=options["dry_run"]).items():
                counts[what] = count
                if not options["json"]:
                    verb = "to delete" if options["dry_run"] else "deleted"
                    self.stdout.write(f"{what}: {count} {verb}")
        if options["json"]:
            self.stdout.write(json.dumps(counts))
