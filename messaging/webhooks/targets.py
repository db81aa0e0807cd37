"""What webhooks report: the classes named in `WEBHOOK_TARGETS`.

Other apps add them by their dotted paths, as content rules, so messaging does not import these apps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Protocol
from uuid import UUID

from django.conf import settings
from django.db.models import Case, OuterRef, QuerySet, Subquery, TextField, When
from django.utils.module_loading import import_string

from kernel.changes.channels import Channel
from messaging.changes.types import WEBHOOK_CHANGES
from messaging.models import Account, Webhook
from messaging.models.webhook import WebhookQuerySet


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetState:
    """An embed or agent that may have webhooks: its owner, and its community or its account."""

    owner_id: UUID
    community_id: UUID | None = None
    account_id: UUID | None = None


class WebhookTargets(Protocol):
    """The embeds, or the agents. Those that are deleted or disabled, or whose owner is inactive, are left out."""

    kind: ClassVar[str]

    def lock(self, target_id: UUID, *, owner: Account) -> bool:
        """Lock one of the owner's; returns whether it exists."""
        ...

    def find(self, ids: Collection[UUID]) -> dict[UUID, TargetState]: ...

    def names(self) -> QuerySet[Any]:
        """All rows, also those left out elsewhere, with the name of each as `shown`."""
        ...


@lru_cache(maxsize=1)
def webhook_targets() -> dict[str, WebhookTargets]:
    targets = [import_string(path)() for path in settings.WEBHOOK_TARGETS]
    return {target.kind: target for target in targets}


def with_target_names(webhooks: WebhookQuerySet) -> WebhookQuerySet:
    """Add `target_name`, the name of the embed or the handle of the agent."""
    cases = [
        When(target_kind=kind, then=Subquery(targets.names().filter(pk=OuterRef("target_id")).values("shown")))
        for kind, targets in webhook_targets().items()
    ]
    return webhooks.annotate(target_name=Case(*cases, output_field=TextField()))


def channels_of(webhooks: Iterable[Webhook]) -> dict[UUID, Channel]:
    """The channels of webhooks in the change log, by id; those that may not report their target are left out."""
    all_webhooks = list(webhooks)
    channels = {}
    for kind, targets in webhook_targets().items():
        of_kind = [webhook for webhook in all_webhooks if webhook.target_kind == kind]
        states = targets.find({webhook.target_id for webhook in of_kind}) if of_kind else {}
        for webhook in of_kind:
            state = states.get(webhook.target_id)
            if state is not None and state.owner_id == webhook.owner_id:
                channels[webhook.pk] = _channel(state, webhook)
    return channels


def _channel(state: TargetState, webhook: Webhook) -> Channel:
    every = WEBHOOK_CHANGES if state.account_id is None else ()
    return Channel(
        account_id=state.account_id, community_id=state.community_id, types=frozenset(webhook.types or every)
    )
