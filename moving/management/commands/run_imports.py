from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from kernel import fingerprints
from moving.jobs import run_due_imports


class Command(BaseCommand):
    help = (
        "Check, write and undo the imports that people have begun in the account area. The service runs it for each "
        "step, and hourly. Any number of hosts may run it; after a crash the next run goes on."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        fingerprints.require_known_secrets()
        self.stdout.write(f"imports: {run_due_imports()} steps done")
