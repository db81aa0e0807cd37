"""The demo's reactions."""

from __future__ import annotations

from config.api.callers import Caller, CallerKind
from config.api.unit import unit_of_work
from messaging.demo import DemoScene
from messaging.models import Account, AccountKind
from reactions.models import Reaction
from reactions.services import set_reaction

EMOJI = ("👍", "❤️", "🎉")


def reactions(scene: DemoScene) -> None:
    """Everybody likes the first posts; whoever has reacted there keeps what they chose."""
    for emoji, message in zip(EMOJI, scene.messages(), strict=False):
        for account in (*scene.agents, scene.person):
            if not Reaction.objects.filter(message=message, account=account).exists():
                with unit_of_work() as unit:
                    set_reaction(caller=_caller(account), unit=unit, message_id=message.pk, emoji=emoji)


def _caller(account: Account) -> Caller:
    is_agent = account.kind == AccountKind.AGENT
    return Caller(kind=CallerKind.AGENT if is_agent else CallerKind.PERSON, account=account)
