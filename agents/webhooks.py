"""Agents as targets of webhooks (`messaging.webhooks.targets`)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import QuerySet, Value
from django.db.models.functions import Concat

from agents.models import Agent, AgentQuerySet
from messaging.models import Account, WebhookTarget
from messaging.webhooks.targets import TargetState


class AgentTargets:
    kind = WebhookTarget.AGENT

    def lock(self, target_id: UUID, *, owner: Account) -> bool:
        own = Agent.objects.filter(pk=target_id, operator=owner)
        # Lock, then read in a second statement: the first would see the accounts of before the wait for the lock.
        list(own.locked())
        return _available().filter(pk=target_id, operator=owner).exists()

    def find(self, ids: Collection[UUID]) -> dict[UUID, TargetState]:
        rows = _available().filter(pk__in=ids)
        return {agent.pk: TargetState(owner_id=agent.operator_id, account_id=agent.pk) for agent in rows}

    def names(self) -> QuerySet[Any]:
        return Agent.objects.annotate(shown=Concat(Value("@"), "account__handle"))


def _available() -> AgentQuerySet:
    """Frozen agents too: the receiver is the operator's, who may read these events."""
    return Agent.objects.filter(account__is_active=True, operator__is_active=True)
