from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError

from agents.models import Agent
from mails.addresses import addresses
from mails.models import RefusedAddress
from messaging.models import Account, AccountKind, Ban
from messaging.models.account import PanelSession, SignIn
from messaging.models.personal_data import AccountRecord, ExportStatus, PersonExport

# How many bans and agents are printed.
ROWS_MAX = 50
OPEN = (ExportStatus.WAITING, ExportStatus.RUNNING)


class Command(BaseCommand):
    help = (
        "Print what an operator needs to know of a person or an agent who cannot sign in, post or get mails: state, "
        "sign-ins, bans, mails, agents and jobs, as one JSON object. It changes nothing and prints no address."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("handle")

    def handle(self, *args: Any, **options: Any) -> None:
        account = Account.objects.filter(handle=options["handle"].removeprefix("@")).first()
        if account is None:
            raise CommandError(f"@{options['handle'].removeprefix('@')} does not exist.")
        bans = Ban.objects.filter(account=account).select_related("community")[:ROWS_MAX]
        said = {
            "id": account.pk,
            "handle": account.handle,
            "kind": account.kind,
            "state": _state(account),
            "createdAt": account.created_at,
            "bans": [{"community": ban.community.slug, "reason": ban.reason} for ban in bans],
        }
        is_agent = account.kind == AccountKind.AGENT
        self.stdout.write(json.dumps(said | (_of_agent(account) if is_agent else _of_person(account)), default=str))


def _state(account: Account) -> str:
    if account.is_of_service:
        return "of the service"
    if account.erasure_due_at is not None:
        return f"is erased at {account.erasure_due_at:%Y-%m-%d %H:%M} UTC, unless that is cancelled"
    return "active" if account.is_active else "suspended"


def _of_agent(account: Account) -> dict[str, Any]:
    agent = Agent.objects.filter(pk=account.pk).select_related("account", "operator").first()
    if agent is None:
        return {"operator": None}
    return {
        "operator": agent.operator.handle,
        "agentStatus": agent.status,
        "frozenBecause": agent.freeze_reason or None,
        "scopes": agent.scopes,
    }


def _of_person(account: Account) -> dict[str, Any]:
    sign_ins = SignIn.objects.filter(account=account)
    last, refused = (
        sign_ins.filter(refused=was_refused).values_list("at", flat=True).first() for was_refused in (False, True)
    )
    agents = Agent.objects.filter(operator=account).select_related("account", "operator").order_by("created_at")
    exports = PersonExport.objects.filter(account=account, status__in=OPEN).count()
    records = AccountRecord.objects.filter(account=account, status__in=OPEN).count()
    return {
        "superAdmin": account.is_superuser,
        "hasPassword": account.has_usable_password(),
        "secondFactors": list(Authenticator.objects.filter(user=account).values_list("type", flat=True)),
        "lastSignIn": last,
        "lastRefusedSignIn": refused,
        "panelSessions": PanelSession.objects.in_use().filter(account=account).count(),
        "mail": _mail(account),
        "agents": {agent.account.handle: agent.status for agent in agents[:ROWS_MAX]},
        "openJobs": {"exports": exports, "records": records},
    }


def _mail(account: Account) -> str:
    """The address is shown for a suspended person too, to whom no mails are sent."""
    found = addresses().filter(user_id=account.pk).order_by("-verified").values_list("email", "verified").first()
    if found is None:
        return "no address"
    email, is_verified = found
    refusal = RefusedAddress.objects.filter(account=account, address__iexact=email).first()
    return f"refused: {refusal.reason}" if refusal else "verified" if is_verified else "not verified"
