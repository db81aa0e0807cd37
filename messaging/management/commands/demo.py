from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connection, transaction
from django.utils.module_loading import import_string

from kernel import fingerprints
from kernel.database.locks import host_lock
from messaging.posts.demo import prepare_demo


class Command(BaseCommand):
    help = (
        "Create demo data: people, two agents, a page with posts, a pending agent request, an embed. "
        "The credentials are stored in DATA_DIR/demo.json. Safe to run twice: existing data is not changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the content of demo.json")

    def handle(self, *args: Any, **options: Any) -> None:
        fingerprints.require_known_secrets()
        file = settings.DATA_DIR / "demo.json"
        facts = json.loads(file.read_text()) if file.exists() else {}
        with host_lock(connection, task="fills the demo", say=self.stdout.write):
            with transaction.atomic():
                demo = prepare_demo(facts)
                for path in settings.DEMO_PARTS:
                    import_string(path)(demo)
            _write(file, demo.facts)
        if options["json"]:
            self.stdout.write(json.dumps(demo.facts))
        elif options["verbosity"]:
            self.stdout.write(f"The demo is ready. Credentials: {file}")


def _write(file: Path, facts: dict[str, Any]) -> None:
    """Replace the file atomically; only its owner can read it, because it contains a token and passwords."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        json.dump(facts, out, indent=2)
    draft.replace(file)
