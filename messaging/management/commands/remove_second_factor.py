from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from kernel.admin.audit import log_decision
from messaging.accounts.second_factor import remove_all
from messaging.accounts.services import account_record
from messaging.accounts.sessions import end_all_sessions
from messaging.management.actor import add_by_option, get_actor, get_person


class Command(BaseCommand):
    help = (
        "Remove all second factors of a person who has lost them, and end their sessions: they sign in with the "
        "password alone. Make sure who asks. Safe to run twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("handle")
        add_by_option(parser)
        parser.add_argument("--json", action="store_true", help="print {id, name, handle, kind, removed}")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        person, actor = get_person(options["handle"]), get_actor(options["by"])
        removed = remove_all(account=person)
        if removed:
            end_all_sessions(account=person)
            log_decision(by=actor, about=person, verb="Removed the second factors", reason="")
        if options["json"]:
            self.stdout.write(json.dumps(account_record(person) | {"removed": removed}, default=str))
        else:
            self.stdout.write(f"{person}: {removed} second factors removed")
