"""Services that create, delete, test, disable and enable webhooks, and replace their secrets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction

from config.admin.audit import log_decision
from config.api.ids import new_id
from config.changes import reading, wakeups
from config.database.sql import database_now
from messaging.exceptions import (
    TooManyWebhooks,
    WebhookBlocked,
    WebhookNotFound,
    WebhooksDisabled,
    WebhookTargetNotFound,
    WebhookUrlNotAllowed,
)
from messaging.models import Account, DeliveryError, DisabledReason, Webhook, WebhookStatus, WebhookTarget
from messaging.models.webhook import WEBHOOKS_MAX, WebhookQuerySet
from messaging.webhooks.addresses import resolve_quickly
from messaging.webhooks.exceptions import NotSent
from messaging.webhooks.outcomes import WORKING, disabled
from messaging.webhooks.receivers import Receiver, normalized_url
from messaging.webhooks.secrets import encrypt, new_secret
from messaging.webhooks.targets import webhook_targets

# How long the former secret signs beside a new one.
BOTH_SECRETS = timedelta(hours=24)
REASONS = {
    DeliveryError.UNRESOLVED: "The host name cannot be resolved.",
    DeliveryError.ADDRESS_NOT_ALLOWED: "The host has an address that is not global.",
}


def require_enabled() -> None:
    """Raises WebhooksDisabled (403)."""
    if not settings.WEBHOOKS:
        raise WebhooksDisabled


@transaction.atomic
def create_webhook(
    *, owner: Account, target_kind: WebhookTarget, target_id: UUID, url: str, types: Sequence[str] = ()
) -> tuple[Webhook, str]:
    """Create a webhook for the events from now on; returns it and its secret. No types: all.

    Raises WebhookUrlNotAllowed (400), WebhookTargetNotFound (404), TooManyWebhooks (409).
    """
    _require_allowed(url)
    # Before the lock: with a transaction id of its own, this transaction would not wait for those that run already.
    cursor = reading.now()
    if not webhook_targets()[target_kind].lock(target_id, owner=owner):
        raise WebhookTargetNotFound
    if Webhook.objects.filter(target_kind=target_kind, target_id=target_id).count() >= WEBHOOKS_MAX:
        raise TooManyWebhooks(max=WEBHOOKS_MAX)
    webhook_id, secret = new_id(), new_secret()
    webhook = Webhook.objects.create(
        id=webhook_id,
        owner=owner,
        target_kind=target_kind,
        target_id=target_id,
        url=normalized_url(url),
        types=sorted(set(types)),
        secret=encrypt(secret, webhook_id=webhook_id),
        generation=cursor.generation,
        xid=cursor.position.xid,
        row_id=cursor.position.id,
        created_at=database_now(),
    )
    return webhook, secret


def owned_webhook(*, webhook_id: UUID, owner: Account) -> Webhook:
    """Load a webhook of `owner`; raises WebhookNotFound (404)."""
    return _required(Webhook.objects.owned_by(owner.pk), webhook_id)


@transaction.atomic
def delete_webhook(*, webhook_id: UUID, owner: Account) -> None:
    """Delete a webhook with its delivery log. An event that is being sent may still arrive.

    Raises WebhookNotFound (404).
    """
    _locked(webhook_id, owner).delete()


@transaction.atomic
def test_webhook(*, webhook_id: UUID, owner: Account) -> UUID:
    """Request a test event, which `deliver_webhooks` sends next; returns its id.

    If it is delivered, a failing or disabled webhook is active again. Raises WebhookNotFound (404), WebhookBlocked
    (403).
    """
    webhook = _locked(webhook_id, owner)
    if webhook.disabled_reason == DisabledReason.SUPER_ADMIN:
        raise WebhookBlocked
    if webhook.test_id is None:
        webhook.test_id = uuid4()
        webhook.save(update_fields=["test_id"])
        wakeups.announce()
    return webhook.test_id


@transaction.atomic
def rotate_webhook_secret(*, webhook_id: UUID, owner: Account) -> tuple[Webhook, str]:
    """Replace the secret; returns the webhook and its new secret. The former one signs too for BOTH_SECRETS.

    Raises WebhookNotFound (404).
    """
    webhook, secret = _locked(webhook_id, owner), new_secret()
    webhook.previous_secret, webhook.secret = webhook.secret, encrypt(secret, webhook_id=webhook_id)
    webhook.previous_secret_until = database_now() + BOTH_SECRETS
    webhook.save(update_fields=["secret", "previous_secret", "previous_secret_until"])
    return webhook, secret


@transaction.atomic
def disable_webhook(*, webhook_id: UUID, by: Account, reason: str = "") -> None:
    """Disable a webhook as a super admin; its owner sees the reason. Raises WebhookNotFound (404)."""
    webhook = _required(Webhook.objects.select_for_update(), webhook_id)
    if webhook.disabled_reason != DisabledReason.SUPER_ADMIN:
        Webhook.objects.filter(pk=webhook_id).update(**disabled(DisabledReason.SUPER_ADMIN, reason))
        log_decision(by=by, about=webhook, verb="Disabled", reason=reason)


@transaction.atomic
def enable_webhook(*, webhook_id: UUID, by: Account, reason: str = "") -> None:
    """Enable a disabled webhook; it goes on where it stopped. Raises WebhookNotFound (404)."""
    webhook = _required(Webhook.objects.select_for_update(), webhook_id)
    if webhook.status == WebhookStatus.DISABLED:
        Webhook.objects.filter(pk=webhook_id).update(**WORKING)
        log_decision(by=by, about=webhook, verb="Enabled", reason=reason)
        wakeups.announce()


def _require_allowed(url: str) -> None:
    try:
        receiver = Receiver.of(url)
        resolve_quickly(receiver.host, receiver.port)
    except ValueError as failure:
        raise WebhookUrlNotAllowed(field="url", details=str(failure)) from None
    except NotSent as failure:
        raise WebhookUrlNotAllowed(field="url", details=REASONS[failure.error]) from None


def _locked(webhook_id: UUID, owner: Account) -> Webhook:
    return _required(Webhook.objects.owned_by(owner.pk).select_for_update(), webhook_id)


def _required(webhooks: WebhookQuerySet, webhook_id: UUID) -> Webhook:
    webhook = webhooks.filter(pk=webhook_id).first()
    if webhook is None:
        raise WebhookNotFound
    return webhook
