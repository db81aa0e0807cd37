"""Who delivers a webhook, and its next event, as stored in the database.

Several hosts may deliver. A webhook has one deliverer at a time, which holds a lease; the lease of a process that dies
expires.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.functions import Now

from kernel.api.stored_secrets import SecretLost
from kernel.changes import reading
from kernel.changes.channels import Channel
from kernel.changes.exceptions import CursorExpired
from kernel.changes.pending import find_pending
from kernel.changes.rows import Cursor
from kernel.database.sql import database_now
from kernel.writes.retries import retried
from messaging.models import DisabledReason, Webhook, WebhookStatus
from messaging.models.webhook import WebhookQuerySet
from messaging.webhooks.events import Event, challenge_event, event_of, resync_event, test_event
from messaging.webhooks.outcomes import Attempt, at_cursor, disabled
from messaging.webhooks.secrets import signed_headers
from messaging.webhooks.targets import channels_of

# How often the cursor of a webhook without events moves, so that it does not expire.
IDLE = timedelta(hours=1)
# What is read of each webhook in each round.
READ = ("owner_id", "target_kind", "target_id", "types", "generation", "xid", "row_id", "test_id", "verified_at")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A webhook that may have something to send."""

    id: UUID
    owner_id: UUID


def waiting_webhooks() -> list[Waiting]:
    """The webhooks that have something to send now."""
    is_behind = ExpressionWrapper(Q(checked_at__lt=Now() - IDLE), BooleanField())
    rows = Webhook.objects.due().only(*READ).annotate(is_behind=is_behind).order_by("checked_at")
    due = {webhook.pk: webhook for webhook in rows}
    if not due:
        return []
    channels = channels_of(due.values())
    pending = find_pending({pk: (channel, due[pk].cursor) for pk, channel in channels.items()})
    idle = {pk for pk in channels if pk not in pending.keys and not due[pk].is_asked_for}
    if to_move := {pk for pk in idle if due[pk].is_behind}:  # type: ignore[attr-defined]  # annotated
        _move_idle(to_move, pending.now)
    # One without a channel is disabled at its turn.
    return [Waiting(pk, webhook.owner_id) for pk, webhook in due.items() if pk not in idle]


def lease(webhook_id: UUID) -> UUID | None:
    """Take the lease of a webhook that is due; None if another process was faster."""
    return Webhook.objects.due().filter(pk=webhook_id).lease()


def release(lease_id: UUID) -> None:
    Webhook.objects.release(lease_id)


def next_attempt(lease_id: UUID) -> Attempt | None:
    """The next event of a leased webhook, signed; None if there is none, or if the lease has passed on."""
    leased, now = Webhook.objects.leased(lease_id), database_now()
    webhook = leased.first()
    if webhook is None:
        return None
    try:
        event = _next_event(webhook, leased, now)
        headers = event and signed_headers(webhook, event_id=event.id, body=event.body, now=now)
    except SecretLost:
        _disable(webhook, leased, DisabledReason.SECRET_LOST)
        return None
    return Attempt(lease_id, webhook, event, headers, now) if event and headers else None


def _next_event(webhook: Webhook, leased: WebhookQuerySet, now: datetime) -> Event | None:
    channel = channels_of([webhook]).get(webhook.pk)
    if channel is None:
        _disable_without_target(webhook, leased)
        return None
    if webhook.verified_at is None:
        return challenge_event(webhook, now=now)
    if webhook.test_id is not None:
        return test_event(webhook, event_id=webhook.test_id, now=now)
    return None if webhook.status == WebhookStatus.DISABLED else _read_event(webhook, leased, channel, now)


def _read_event(webhook: Webhook, leased: WebhookQuerySet, channel: Channel, now: datetime) -> Event | None:
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
        leased.update(**at_cursor(cursor))
    return None


def _disable(webhook: Webhook, leased: WebhookQuerySet, reason: DisabledReason) -> None:
    """Disable it, unless a test has been requested since it was read: the next turn decides about that."""
    leased.filter(test_id=webhook.test_id).update(test_id=None, **disabled(reason))


@retried
@transaction.atomic
def _disable_without_target(webhook: Webhook, leased: WebhookQuerySet) -> None:
    """The target may be available again by now: the row is locked, as in `resume_webhooks`, before it is looked for."""
    leased.select_for_update().first()
    if not channels_of([webhook]):
        _disable(webhook, leased, DisabledReason.TARGET_UNAVAILABLE)


def _move_idle(webhook_ids: Collection[UUID], cursor: Cursor) -> None:
    """Move cursors forward over rows of others; meanwhile another process may have moved them further."""
    xid, row_id = cursor.position
    not_beyond = Q(xid__lt=xid) | Q(xid=xid, row_id__lte=row_id)
    behind = Webhook.objects.unleased().filter(not_beyond, generation=cursor.generation)
    behind.filter(pk__in=webhook_ids).update(**at_cursor(cursor))
