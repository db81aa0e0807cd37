from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from agents.models import REASON_MAX, Agent, AgentToken
from agents.services import revoke_agent_tokens, revoke_tokens
from agents.tokens import PREFIX_LENGTH
from messaging.management.actor import add_by_option, get_actor
from messaging.models import Account


class Command(BaseCommand):
    help = (
        "Revoke active agent tokens at once and for good: those of one agent, those with a prefix, or all. "
        "Safe to run twice: it does not change tokens that are revoked already."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--agent", metavar="HANDLE", help="every token of this agent")
        which.add_argument("--prefix", help=f"the first {PREFIX_LENGTH} characters of the token, as lists show them")
        which.add_argument("--all", action="store_true", help="every token of every agent")
        parser.add_argument("--reason", required=True, help=f"stored in the history; 1 to {REASON_MAX} characters")
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
    if options["prefix"] is not None:
        tokens = AgentToken.objects.with_accounts().filter(prefix=options["prefix"][:PREFIX_LENGTH])
        if not tokens.exists():
            raise CommandError(f"No token has the prefix {options['prefix'][:PREFIX_LENGTH]}.")
        return revoke_tokens(tokens=tokens, by=by, reason=reason)
    agents = _agents(options["agent"])
    return [token for agent in agents for token in revoke_agent_tokens(agent=agent, by=by, reason=reason)]


def _agents(handle: str | None) -> list[Agent]:
    if handle is None:
        return list(Agent.objects.order_by("pk"))
    agents = Agent.objects.filter(account__handle=handle)
    if not agents:
        raise CommandError(f"No agent has the handle @{handle}.")
    return list(agents)
