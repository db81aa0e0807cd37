from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from agents.models import Agent, AgentToken
from agents.models.agent import REASON_MAX
from agents.services import revoke_agent_tokens, revoke_tokens
from agents.tokens import PREFIX_LENGTH
from messaging.management.actor import add_by_option, get_actor
from messaging.models import Account


class Command(BaseCommand):
    help = (
        "Revoke active agent tokens, at once and for good: one agent's, those with a prefix, or all there are. "
        "Safe to run twice: what is revoked stays as it was."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--agent", metavar="HANDLE", help="every token of this agent")
        which.add_argument("--prefix", help=f"the {PREFIX_LENGTH} characters that lists show")
        which.add_argument("--all", action="store_true", help="every token of every agent")
        parser.add_argument("--reason", required=True, help=f"kept in the history, at most {REASON_MAX} characters")
        add_by_option(parser)
        parser.add_argument("--json", action="store_true", help="print {revoked, tokens: [{id, prefix, agent}]}")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if not 0 < len(options["reason"].strip()) <= REASON_MAX:
            raise CommandError(f"--reason: 1 to {REASON_MAX} characters.")
        revoked = _revoke(options, by=get_actor(options["by"]), reason=options["reason"].strip())
        rows = [{"id": str(token.pk), "prefix": token.prefix, "agent": token.agent.account.handle} for token in revoked]
        if options["json"]:
            self.stdout.write(json.dumps({"revoked": len(rows), "tokens": rows}))
            return
        for row in rows:
            self.stdout.write(f"{row['prefix']}… of @{row['agent']} revoked")
        self.stdout.write(f"{len(rows)} revoked.")


def _revoke(options: dict[str, Any], *, by: Account, reason: str) -> list[AgentToken]:
    if options["prefix"]:
        held = AgentToken.objects.with_accounts().filter(prefix=options["prefix"][:PREFIX_LENGTH])
        if not held.exists():
            raise CommandError(f"There is no token {options['prefix'][:PREFIX_LENGTH]}…: nothing is revoked.")
        return revoke_tokens(among=held, by=by, reason=reason)
    agents = _agents(options["agent"])
    return [token for agent in agents for token in revoke_agent_tokens(agent=agent, by=by, reason=reason)]


def _agents(handle: str | None) -> list[Agent]:
    if handle is None:
        return list(Agent.objects.order_by("pk"))
    found = Agent.objects.filter(account__handle=handle)
    if not found:
        raise CommandError(f"There is no agent @{handle}.")
    return list(found)
