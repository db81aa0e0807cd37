from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def bystander() -> Iterator[None]:
    """A person with an agent, a post, a reaction and an export, of which nothing may change during the test."""
    from agents.models import Agent, AgentToken
    from messaging.models import Account, HandleClaim, Message, PersonExport
    from reactions.models import Reaction
    from tests.agents.factories import agent_with_token
    from tests.factories import MessageFactory

    holder = agent_with_token()
    person, ids = holder.request.requester, [holder.request.requester_id, holder.account.pk]
    Reaction.objects.create(message=MessageFactory(author=person), account=person, emoji="👍")
    PersonExport.objects.create(account=person, status="ready")

    def rows() -> list[Any]:
        accounts = Account.objects.filter(pk__in=ids).order_by("pk")
        return [
            list(accounts.values()),
            list(HandleClaim.objects.filter(handle__in=accounts.values("handle")).order_by("handle").values()),
            list(Agent.objects.filter(operator=person).values()),
            list(AgentToken.objects.filter(agent__operator=person).values()),
            list(Message.objects.filter(author=person).values()),
            list(Reaction.objects.filter(account=person).values()),
            list(PersonExport.objects.filter(account=person).values()),
        ]

    before = rows()
    assert all(before)
    yield
    assert rows() == before
