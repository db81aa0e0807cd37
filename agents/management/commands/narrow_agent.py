from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from agents.models import REASON_MAX, Agent, Scope
from agents.services import narrow_agent
from kernel.api.exceptions import InvalidInput
from messaging.accounts.services import account_record
from messaging.management.actor import add_by_option, get_actor


class Command(BaseCommand):
    help = (
        "Remove scopes or communities from an agent, and so from all its tokens at once. The options list those that "
        "remain; without --scope or --community, the scopes or the communities do not change. Nothing can be added. "
        "Safe to run twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("handle")
        parser.add_argument("--scope", action="append", choices=Scope.values, help="a scope to keep; repeat for more")
        parser.add_argument(
            "--community", action="append", type=UUID, metavar="ID", help="a community to keep; repeat for more"
        )
        parser.add_argument("--reason", default="", help=f"stored in the history; at most {REASON_MAX} characters")
        add_by_option(parser)
        parser.add_argument("--json", action="store_true", help="print {agent, scopes, communityIds}")

    def handle(self, *args: Any, **options: Any) -> None:
        agent = _narrowed(options)
        record = {
            "agent": account_record(agent.account),
            "scopes": agent.scopes,
            "communityIds": agent.community_ids,
        }
        if options["json"]:
            self.stdout.write(json.dumps(record, default=str))
            return
        communities = ", ".join(map(str, agent.community_ids)) or "all"
        self.stdout.write(f"@{options['handle']}: scopes {', '.join(agent.scopes)}; communities: {communities}")


def _narrowed(options: dict[str, Any]) -> Agent:
    agent = Agent.objects.filter(account__handle=options["handle"]).first()
    if agent is None:
        raise CommandError(f"No agent has the handle @{options['handle']}.")
    if len(options["reason"]) > REASON_MAX:
        raise CommandError(f"--reason: at most {REASON_MAX} characters.")
    try:
        return narrow_agent(
            agent=agent,
            by=get_actor(options["by"]),
            scopes=options["scope"],
            community_ids=options["community"],
            reason=options["reason"],
        )
    except InvalidInput as refusal:
        raise CommandError(json.dumps(refusal.fields["details"])) from None
