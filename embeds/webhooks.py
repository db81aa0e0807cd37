"""Embeds as targets of webhooks (`messaging.webhooks.targets`)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet

from embeds.models import Embed, EmbedQuerySet, EmbedStatus
from messaging.models import Account, WebhookTarget
from messaging.webhooks.targets import TargetState


class EmbedTargets:
    kind = WebhookTarget.EMBED

    def lock(self, target_id: UUID, *, owner: Account) -> bool:
        locked = _available().select_for_update(of=("self",), no_key=True)
        return locked.filter(pk=target_id, owner=owner).first() is not None

    def find(self, ids: Collection[UUID]) -> dict[UUID, TargetState]:
        rows = _available().filter(pk__in=ids, owner__is_active=True)
        return {embed.pk: TargetState(owner_id=embed.owner_id, community_id=embed.community_id) for embed in rows}

    def names(self) -> QuerySet[Any]:
        return Embed.objects.annotate(shown=F("name"))


def _available() -> EmbedQuerySet:
    return Embed.objects.live().exclude(status=EmbedStatus.DISABLED)
