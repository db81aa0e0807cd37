from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from messaging.management.actor import get_person
from messaging.privacy.archive import write_archive


class Command(BaseCommand):
    help = (
        "Write all that a person has stored here to a zip file: a JSON file for each kind of record, without "
        "passwords, tokens and other secrets. Safe to run twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("handle")
        parser.add_argument("--output", metavar="FILE", help="default: HANDLE.zip in the current folder")

    def handle(self, *args: Any, **options: Any) -> None:
        person = get_person(options["handle"])
        file = Path(options["output"] or f"{person.handle}.zip")
        draft = file.with_name(f"{file.name}.part")
        try:
            draft.unlink(missing_ok=True)
            # Personal data: only this user may read it.
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                write_archive(out, account_id=person.pk)
            draft.rename(file)
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}") from None
        finally:
            draft.unlink(missing_ok=True)
        self.stdout.write(str(file))
