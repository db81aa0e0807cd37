from __future__ import annotations

import getpass
import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from kernel import fingerprints
from kernel.api.exceptions import ApiError
from messaging.accounts.services import account_record, ensure_person


class Command(BaseCommand):
    help = (
        "Create a person, or update the one with this handle: only the given options are changed. "
        "Prints the person as one JSON object. Safe to run twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("handle", help="3 to 30 characters of a-z, 0-9 and underscore")
        parser.add_argument("--name", type=str.strip, help="2 to 60 characters (default: the handle)")
        parser.add_argument(
            "--password",
            help="'-' reads it from a prompt or standard input, to omit it from the shell's history. "
            "Without a password, the person cannot sign in.",
        )
        parser.add_argument("--staff", action="store_true", help="set is_staff, which alone does not open the admin")
        parser.add_argument(
            "--super-admin", action="store_true", help="may open the admin, decide on agents and moderate"
        )
        parser.add_argument("--json", action="store_true", help="accepted for consistency; the output is always JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        # Handles of erased accounts are known only under the root key.
        fingerprints.require_known_secrets()
        try:
            account = ensure_person(
                handle=options["handle"],
                name=options["name"],
                password=_password(options["password"]),
                is_staff=options["staff"] or options["super_admin"],
                is_superuser=options["super_admin"],
            )
        except ApiError as refusal:
            raise CommandError(f"{refusal.default_code}: {json.dumps(refusal.fields)}") from None
        record = account_record(account) | {"staff": account.is_staff, "superAdmin": account.is_superuser}
        self.stdout.write(json.dumps(record, default=str))


def _password(given: str | None) -> str | None:
    if given != "-":
        return given
    return getpass.getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
