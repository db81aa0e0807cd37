"""Stores the outcome of an attempt: where the webhook goes on, when it tries again, and when it gives up."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Coalesce, Now

from kernel.changes.rows import Cursor
from kernel.metrics.definitions import webhook_attempts
from messaging.models import DisabledReason, Webhook, WebhookDelivery, WebhookStatus
from messaging.models.webhook import DELIVERIES_SHOWN
from messaging.webhooks.events import TEST, Event
from messaging.webhooks.posting import Outcome

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
