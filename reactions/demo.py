from __future__ import annotations

from kernel.api.credentials import Credential, CredentialKind
from kernel.writes.transaction import write_transaction
from messaging.models import Account, AccountKind
from messaging.posts.demo import DemoContext
from reactions.models import Reaction
from reactions.services import set_reaction

EMOJI = ("👍", "❤️", "🎉")


def reactions(demo: DemoContext) -> None:
    """Add reactions of the demo's accounts to the first posts; existing reactions do not change."""
    for emoji, message in zip(EMOJI, demo.messages(), strict=False):
        for account in (*demo.agents, demo.person):
            if not Reaction.objects.filter(message=message, account=account).exists():
                with write_transaction() as transaction:
                    set_reaction(auth=_credential(account), transaction=transaction, message_id=message.pk, emoji=emoji)


def _credential(account: Account) -> Credential:
    is_agent = account.kind == AccountKind.AGENT
    return Credential(kind=CredentialKind.AGENT if is_agent else CredentialKind.PERSON, user=account)
