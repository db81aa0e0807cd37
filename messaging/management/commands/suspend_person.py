from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from kernel.admin.actions import REASON_MAX
from kernel.api.exceptions import ApiError
from messaging.accounts.services import account_record, suspend_person, unsuspend_person
from messaging.management.actor import add_by_option, get_actor, get_person
from messaging.models import Account


class Command(BaseCommand):
    help = (
        "Suspend a person: their sessions end, sign-in is refused, and the agents they operate stop, all at once. "
        "Their posts stay visible. --undo lets them sign in and reactivates their agents. Safe to run twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("handle")
        parser.add_argument("--reason", default="", help=f"required to suspend; at most {REASON_MAX} characters")
        parser.add_argument("--undo", action="store_true", help="end the suspension")
        add_by_option(parser)
        parser.add_argument("--json", action="store_true", help="print {id, name, handle, kind, suspended}")

    def handle(self, *args: Any, **options: Any) -> None:
        person = _decide(options)
        if options["json"]:
            record = account_record(person) | {"suspended": not person.is_active}
            self.stdout.write(json.dumps(record, default=str))
            return
        self.stdout.write(f"{person}: {'active' if person.is_active else 'suspended'}")


def _decide(options: dict[str, Any]) -> Account:
    reason, needed = options["reason"].strip(), 0 if options["undo"] else 1
    if not needed <= len(reason) <= REASON_MAX:
        raise CommandError(f"--reason: {needed} to {REASON_MAX} characters.")
    person = get_person(options["handle"])
    decide = unsuspend_person if options["undo"] else suspend_person
    try:
        return decide(person=person, by=get_actor(options["by"]), reason=reason)
    except ApiError as refusal:
        raise CommandError(refusal.default_code) from None
