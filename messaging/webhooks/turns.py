"""Who delivers a webhook, and its next event, as stored in the database.

Several hosts may deliver. A webhook has one deliverer at a time, which holds a lease; the lease of a process that dies
expires.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db.models.functions import Now

from config.changes import reading
from config.changes.channels import Channel
from config.changes.exceptions import CursorExpired
from config.changes.pending import find_pending
from config.changes.rows import Cursor
from config.database.sql import database_now
from messaging.models import DisabledReason, Webhook, WebhookStatus
from messaging.models.webhook import LEASE
from messaging.webhooks.events import Event, event_of, resync_event, test_event
from messaging.webhooks.outcomes import Attempt, at_cursor, disabled
from messaging.webhooks.secrets import SecretLost, signed_headers
from messaging.webhooks.targets import channels_of

# How often the cursor of a webhook without events moves, so that it does not expire.
IDLE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A webhook that may have something to send."""

    id: UUID
    owner_id: UUID


def waiting_webhooks() -> list[Waiting]:
    """The webhooks that have something to send now."""
    due = {webhook.pk: webhook for webhook in Webhook.objects.due().order_by("checked_at")}
    if not due:
        return []
    channels = channels_of(due.values())
    pending = find_pending({pk: (channel, due[pk].cursor) for pk, channel in channels.items()})
    idle = {pk for pk in channels if pk not in pending.keys and due[pk].test_id is None}
    _move_idle(idle, pending.now)
    # One without a channel is disabled at its turn.
    return [Waiting(pk, webhook.owner_id) for pk, webhook in due.items() if pk not in idle]


def lease(webhook_id: UUID) -> UUID | None:
    """Take the lease of a webhook that is due; None if another process was faster."""
    lease_id = uuid4()
    leased = Webhook.objects.due().filter(pk=webhook_id).update(lease_id=lease_id, leased_until=Now() + LEASE)
    return lease_id if leased else None


def release(lease_id: UUID) -> None:
    Webhook.objects.filter(lease_id=lease_id).update(lease_id=None, leased_until=None)


def next_attempt(lease_id: UUID) -> Attempt | None:
    """The next event of a leased webhook, signed; None if there is none, or if the lease has passed on."""
    webhook, now = Webhook.objects.filter(lease_id=lease_id).first(), database_now()
    if webhook is None:
        return None
    try:
        event = _next_event(webhook, now)
        headers = event and signed_headers(webhook, event_id=event.id, body=event.body, now=now)
    except SecretLost:
        _update(webhook, **disabled(DisabledReason.SECRET_LOST))
        return None
    return Attempt(webhook, event, headers, now) if event and headers else None


def _next_event(webhook: Webhook, now: datetime) -> Event | None:
    channel = channels_of([webhook]).get(webhook.pk)
    if channel is None:
        _update(webhook, **disabled(DisabledReason.TARGET_UNAVAILABLE))
        return None
    if webhook.test_id is not None:
        return test_event(webhook, event_id=webhook.test_id, now=now)
    return None if webhook.status == WebhookStatus.DISABLED else _read_event(webhook, channel, now)


def _read_event(webhook: Webhook, channel: Channel, now: datetime) -> Event | None:
    cursor, has_more = webhook.cursor, True
    while has_more:
        try:
            batch = reading.read(channel, cursor, limit=1)
        except CursorExpired:
            return resync_event(webhook, cursor=reading.now(), now=now)
        if batch.rows:
            return event_of(batch.rows[0], webhook=webhook, channel=channel, generation=batch.next.generation)
        # Rows of other types are skipped only once.
        cursor, has_more = batch.next, batch.has_more
        _update(webhook, **at_cursor(cursor))
    return None


def _move_idle(webhook_ids: Collection[UUID], cursor: Cursor) -> None:
    """Move cursors forward over rows of others; meanwhile another process may have moved them further."""
    behind = Webhook.objects.unleased().filter(generation=cursor.generation, xid__lt=cursor.position.xid)
    behind.filter(pk__in=webhook_ids, checked_at__lt=Now() - IDLE).update(**at_cursor(cursor))


def _update(webhook: Webhook, **changes: object) -> None:
    Webhook.objects.filter(lease_id=webhook.lease_id).update(**changes)
