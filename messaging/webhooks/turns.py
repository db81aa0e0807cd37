"""Who delivers a webhook, and its next event, as stored in the database.

Several hosts may deliver. A webhook has one deliverer at a time, which holds a lease; the lease of a process that dies
expires.

Stores the outcome of an attempt: where the webhook goes on, when it tries again, and when it gives up.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.functions import Coalesce, Now

from kernel.api.stored_secrets import SecretLost
from kernel.changes import reading
from kernel.changes.channels import Channel
from kernel.changes.reading import CursorExpired
from kernel.changes.rows import Cursor
from kernel.changes.unread import find_pending
from kernel.database.sql import database_now
from kernel.metrics.definitions import webhook_attempts
from kernel.writes.transaction import retried
from messaging.models import DisabledReason, Webhook, WebhookDelivery, WebhookStatus
from messaging.models.webhook import DELIVERIES_SHOWN, WebhookQuerySet
from messaging.webhooks.posting import Outcome
from messaging.webhooks.secrets import signed_headers
from messaging.webhooks.targets import TEST, Event, challenge_event, channels_of, event_of, resync_event, test_event

# The pause after the first failure; each further one is three times as long, up to the longest.
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(hours=3)
JITTER = 0.2
GIVE_UP_AFTER = timedelta(hours=24)
WORKING = {
    "status": WebhookStatus.ACTIVE,
    "disabled_reason": "",
    "disabled_details": "",
    "failing_since": None,
    "failures": 0,
    "next_attempt_at": None,
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request to send, signed. The webhook is as before the attempt; `now` is the time of the database."""

    lease_id: UUID
    webhook: Webhook
    event: Event
    headers: dict[str, str]
    now: datetime


@transaction.atomic
def record(attempt: Attempt, outcome: Outcome) -> bool:
    """Store the outcome and renew the lease; returns whether the next event may be sent at once."""
    # A process that was stopped for longer than its lease must not move the cursor of another.
    if not Webhook.objects.renew(attempt.lease_id, **_changes(attempt, outcome)):
        return False
    webhook_attempts.labels("delivered" if outcome.is_delivered else "failed").inc()
    _log(attempt, outcome)
    return outcome.is_delivered


def at_cursor(cursor: Cursor) -> dict[str, Any]:
    """The columns of a webhook that goes on at a cursor."""
    return cursor.columns() | {"checked_at": Now()}


def disabled(reason: DisabledReason, details: str = "") -> dict[str, Any]:
    """The columns of a webhook that sends nothing more."""
    return {
        "status": WebhookStatus.DISABLED,
        "disabled_reason": reason,
        "disabled_details": details,
        "next_attempt_at": None,
    }


def pause_after(failures: int) -> timedelta:
    """The pause before the next attempt, different for each webhook."""
    pause: timedelta = min(FIRST_PAUSE * 3 ** min(failures - 1, 10), LONGEST_PAUSE)
    return pause * random.uniform(1 - JITTER, 1 + JITTER)  # nosec B311  # noqa: S311  no secret


def _changes(attempt: Attempt, outcome: Outcome) -> dict[str, Any]:
    event = attempt.event
    if event.challenge:
        return _of_challenge(attempt, outcome)
    if event.cursor is None:
        return {"test_id": None} | (WORKING if outcome.is_delivered else {})
    if outcome.is_delivered:
        return WORKING | at_cursor(event.cursor)
    if outcome.is_gone:
        return disabled(DisabledReason.GONE)
    return _failed(attempt)


def _of_challenge(attempt: Attempt, outcome: Outcome) -> dict[str, Any]:
    """A requested test follows a challenge that was answered, and ends with one that was not."""
    webhook = attempt.webhook
    if outcome.is_delivered:
        return WORKING | {"verified_at": Now()}
    test = {} if webhook.test_id is None else {"test_id": None}
    if webhook.status == WebhookStatus.DISABLED:
        return test
    return test | (disabled(DisabledReason.GONE) if outcome.is_gone else _failed(attempt))


def _failed(attempt: Attempt) -> dict[str, Any]:
    webhook = attempt.webhook
    failing = {"failing_since": Coalesce("failing_since", Now()), "failures": webhook.failures + 1}
    if webhook.failing_since is not None and attempt.now - webhook.failing_since >= GIVE_UP_AFTER:
        return disabled(DisabledReason.UNREACHABLE) | failing
    next_attempt_at = Now() + pause_after(webhook.failures + 1)
    return {"status": WebhookStatus.FAILING, "next_attempt_at": next_attempt_at} | failing


def _log(attempt: Attempt, outcome: Outcome) -> None:
    """Add the attempt to the delivery log, and delete those that it shows no more."""
    webhook, event = attempt.webhook, attempt.event
    WebhookDelivery.objects.create(
        webhook=webhook,
        event_id=event.id,
        type=event.type,
        attempt=1 if event.type == TEST else webhook.failures + 1,
        status_code=outcome.status_code,
        error=outcome.error or "",
        duration_ms=outcome.duration_ms,
    )
    first_not_shown = webhook.deliveries.order_by("-id").values_list("pk", flat=True)[DELIVERIES_SHOWN:][:1]
    webhook.deliveries.filter(pk__lte=Coalesce(first_not_shown, 0)).delete()


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
