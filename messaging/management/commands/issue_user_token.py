from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError

from kernel import fingerprints
from kernel.api.jwt import expiry_of, issue_user_token
from messaging.models import Account, AccountKind
from messaging.models.account import OF_SERVICE


class Command(BaseCommand):
    help = (
        "Print a user token of a person, valid for 12 hours, and nothing else. "
        "Send it as `Authorization: Bearer <token>` with `X-User-Id: <the person's id>` (see --json)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("handle")
        parser.add_argument("--json", action="store_true", help="print {token, userId, expiresAt} instead")

    def handle(self, *args: Any, **options: Any) -> None:
        fingerprints.require_known_secrets()
        people = Account.objects.filter(~OF_SERVICE, kind=AccountKind.HUMAN, is_active=True)
        person = people.filter(handle=options["handle"]).first()
        if person is None:
            raise CommandError(f"Active person @{options['handle']} does not exist; `create_person` creates one.")
        if person.erasure_due_at is not None:
            raise CommandError(f"{person} waits for an erasure: `erase_person {person.handle} --undo` cancels it.")
        token = issue_user_token(person)
        record = {"token": str(token), "userId": str(person.pk), "expiresAt": expiry_of(token)}
        as_json = orjson.dumps(record, option=orjson.OPT_UTC_Z).decode()
        self.stdout.write(as_json if options["json"] else str(token))
