"""What webhooks report: the classes named in `WEBHOOK_TARGETS`.

Other apps add them by their dotted paths, as content rules, so messaging does not import these apps.

The bodies of webhook requests: the items of the change log and of inboxes, as readers get them.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, ClassVar, Protocol
from uuid import UUID, uuid4, uuid5

from django.conf import settings
from django.db.models import Case, OuterRef, QuerySet, Subquery, TextField, When
from django.utils.module_loading import import_string

from kernel.api.pagination import bound_to
from kernel.cache.rendering import to_json
from kernel.changes import reading
from kernel.changes.channels import Channel
from kernel.changes.rows import ChangeRow, Cursor
from messaging.changes.items import inbox_item, public_item, related_to
from messaging.changes.types import WEBHOOK_CHANGES
from messaging.models import Account, Webhook
from messaging.models.webhook import WebhookQuerySet

CHALLENGE = "webhook.challenge"
TEST = "webhook.test"
RESYNC = "webhook.resync"


@dataclass(frozen=True, slots=True)
class Event:
    """A request to send.

    After its delivery the webhook goes on at `cursor`; None: a test or a challenge, which does not move it. A receiver
    acknowledges a `challenge` by repeating it.
    """

    id: UUID
    type: str
    body: bytes
    cursor: Cursor | None
    challenge: str = ""


def event_of(row: ChangeRow, *, webhook: Webhook, channel: Channel, generation: int) -> Event:
    """The event has the same id at each attempt. Its post is as it is now, null if it is not public any more."""
    cursor = Cursor(generation, row.position)
    render = public_item if channel.account_id is None else inbox_item
    item = render(row, related_to([row]), cursor=reading.encode(cursor, bound_to=_bound_to(webhook, channel)))
    return Event(uuid5(webhook.pk, f"{generation} {row.xid} {row.id}"), row.type, to_json(item), cursor)


def challenge_event(webhook: Webhook, *, now: datetime) -> Event:
    """Another event at each attempt, so that a receiver which ignores repeated events answers each."""
    event_id, challenge = uuid4(), secrets.token_urlsafe(32)
    item = _item(CHALLENGE, webhook, event_id=event_id, now=now) | {"challenge": challenge}
    return Event(event_id, CHALLENGE, to_json(item), None, challenge)


def test_event(webhook: Webhook, *, event_id: UUID, now: datetime) -> Event:
    return _notice(TEST, webhook, event_id=event_id, now=now, cursor=None)


def resync_event(webhook: Webhook, *, cursor: Cursor, now: datetime) -> Event:
    """Tells that events were deleted before they could be delivered; those after `cursor` follow."""
    return _notice(RESYNC, webhook, event_id=uuid5(webhook.pk, f"resync {webhook.cursor}"), now=now, cursor=cursor)


def _notice(type: str, webhook: Webhook, *, event_id: UUID, now: datetime, cursor: Cursor | None) -> Event:
    return Event(event_id, type, to_json(_item(type, webhook, event_id=event_id, now=now)), cursor)


def _item(type: str, webhook: Webhook, *, event_id: UUID, now: datetime) -> dict[str, Any]:
    return {"id": event_id, "type": type, "at": now, "webhookId": webhook.pk}


def _bound_to(webhook: Webhook, channel: Channel) -> str:
    """As in `GET /v1/changes` of the community and `GET /v1/inbox` with the same types, so that both accept it."""
    types = sorted(webhook.types) or None
    if channel.account_id is not None:
        return bound_to("inbox", {"account": channel.account_id, "types": types})
    return bound_to("changes", {"community_id": channel.community_id, "types": types})


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
