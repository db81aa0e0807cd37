"""The bodies of webhook requests: the items of the change log and of inboxes, as readers get them."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4, uuid5

from kernel.api.pagination import bound_to
from kernel.cache.rendering import to_json
from kernel.changes import cursors
from kernel.changes.channels import Channel
from kernel.changes.rows import ChangeRow, Cursor
from messaging.changes.items import inbox_item, public_item, related_to
from messaging.models import Webhook

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
    item = render(row, related_to([row]), cursor=cursors.encode(cursor, bound_to=_bound_to(webhook, channel)))
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
