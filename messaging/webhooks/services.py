"""Services that create, delete, test, disable and enable webhooks, and replace their secrets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction

from kernel.admin.audit import log_decision, transition
from kernel.api.ids import new_id
from kernel.changes import reading, wakeups
from kernel.database.sql import database_now, execute
from kernel.writes.transaction import retried
from messaging.models import Account, DisabledReason, Webhook, WebhookStatus, WebhookTarget
from messaging.models.webhook import WEBHOOKS_MAX, WEBHOOKS_OF_HOST_MAX, WebhookQuerySet
from messaging.webhooks.exceptions import (
    TooManyWebhooks,
    WebhookBlocked,
    WebhookNotFound,
    WebhooksDisabled,
    WebhookTargetNotFound,
    WebhookUrlNotAllowed,
)
from messaging.webhooks.posting import Receiver, normalized_url
from messaging.webhooks.secrets import encrypt, new_secret
from messaging.webhooks.targets import channels_of, webhook_targets, with_target_names
from messaging.webhooks.turns import WORKING, disabled

# How long the former secret signs beside a new one.
BOTH_SECRETS = timedelta(hours=24)
# Two webhooks of an account cannot both be the last one that its host may have.
LOCK_OWNER = "SELECT pg_advisory_xact_lock(hashtextextended('webhooks ' || %s::text, 0))"


def require_enabled() -> None:
    """Raises WebhooksDisabled (403)."""
    if not settings.WEBHOOKS:
        raise WebhooksDisabled


@retried
@transaction.atomic
def create_webhook(
    *, owner: Account, target_kind: WebhookTarget, target_id: UUID, url: str, types: Sequence[str] = ()
) -> tuple[Webhook, str]:
    """Create a webhook for the events from now on; returns it and its secret. No types: all.

    They are sent when the receiver has answered a challenge. The host is looked up when that is sent. Raises
    WebhookUrlNotAllowed (400), WebhookTargetNotFound (404), WebhookBlocked (403), TooManyWebhooks (409).
    """
    url = _allowed_url(url)
    cursor = reading.now()
    if not webhook_targets()[target_kind].lock(target_id, owner=owner):
        raise WebhookTargetNotFound
    others = list(Webhook.objects.filter(target_kind=target_kind, target_id=target_id).only("url", "disabled_reason"))
    if any(webhook.is_blocked and webhook.url == url for webhook in others):
        raise WebhookBlocked
    if len(others) >= WEBHOOKS_MAX:
        raise TooManyWebhooks(max=WEBHOOKS_MAX)
    _require_place_at(Receiver.of(url).host, owner)
    webhook_id, secret = new_id(), new_secret()
    webhook = Webhook.objects.create(
        id=webhook_id,
        owner=owner,
        target_kind=target_kind,
        target_id=target_id,
        url=url,
        types=sorted(set(types)),
        secret=encrypt(secret, webhook_id=webhook_id),
        created_at=database_now(),
        **cursor.columns(),
    )
    return webhook, secret


def owned_webhook(*, webhook_id: UUID, owner: Account) -> Webhook:
    """Load a webhook of `owner`; raises WebhookNotFound (404)."""
    return _required(Webhook.objects.owned_by(owner.pk), webhook_id)


@retried
@transaction.atomic
def delete_webhook(*, webhook_id: UUID, owner: Account) -> None:
    """Delete a webhook with its delivery log. An event that is being sent may still arrive.

    Raises WebhookNotFound (404), WebhookBlocked (403): a blocked one prevents that it is created again.
    """
    _unblocked(webhook_id, owner).delete()


@retried
@transaction.atomic
def delete_webhooks_of(*, target_kind: WebhookTarget, target_id: UUID) -> None:
    """Delete the webhooks of an embed or agent that ends, except those that a super admin has disabled."""
    Webhook.objects.ending_with(target_kind, target_id).delete()


@retried
@transaction.atomic
def test_webhook(*, webhook_id: UUID, owner: Account) -> UUID:
    """Request a test event, which the worker sends next; returns its id.

    If it is delivered, a failing or disabled webhook is active again. Raises WebhookNotFound (404), WebhookBlocked
    (403), WebhookTargetNotFound (404).
    """
    webhook = _unblocked(webhook_id, owner)
    if not channels_of([webhook]):
        raise WebhookTargetNotFound
    if webhook.test_id is None:
        webhook.test_id = uuid4()
        webhook.save(update_fields=["test_id"])
        wakeups.announce()
    return webhook.test_id


@retried
@transaction.atomic
def rotate_webhook_secret(*, webhook_id: UUID, owner: Account) -> tuple[Webhook, str]:
    """Replace the secret; returns the webhook and its new secret. The former one signs too for BOTH_SECRETS.

    A second rotation within this time replaces only the new one, which the receiver may not know yet. Raises
    WebhookNotFound (404).
    """
    webhook, secret, now = _locked(webhook_id, owner), new_secret(), database_now()
    if webhook.previous_secret_until is None or webhook.previous_secret_until <= now:
        webhook.previous_secret, webhook.previous_secret_until = webhook.secret, now + BOTH_SECRETS
    webhook.secret = encrypt(secret, webhook_id=webhook_id)
    webhook.save(update_fields=["secret", "previous_secret", "previous_secret_until"])
    return webhook, secret


@retried
@transaction.atomic
def disable_webhook(*, webhook_id: UUID, by: Account, reason: str = "") -> None:
    """Disable a webhook as a super admin; its owner sees the reason. Raises WebhookNotFound (404).

    Its lease ends, so that a process which is sending an event changes nothing, and a requested test is not sent.
    """
    webhook = _required(_named_and_locked(), webhook_id)
    if not webhook.is_blocked:
        ended = {"lease_id": None, "leased_until": None, "test_id": None}
        Webhook.objects.filter(pk=webhook_id).update(**disabled(DisabledReason.SUPER_ADMIN, reason), **ended)
        log_decision(
            by=by, about=webhook, verb=transition("Disabled", webhook.status, WebhookStatus.DISABLED), reason=reason
        )


@retried
@transaction.atomic
def enable_webhook(*, webhook_id: UUID, by: Account, reason: str = "") -> None:
    """Enable a disabled webhook; it goes on where it stopped. Raises WebhookNotFound (404)."""
    webhook = _required(_named_and_locked(), webhook_id)
    if webhook.status == WebhookStatus.DISABLED:
        Webhook.objects.filter(pk=webhook_id).update(**WORKING)
        log_decision(by=by, about=webhook, verb=transition("Enabled", webhook.status, WORKING["status"]), reason=reason)
        wakeups.announce()


def resume_webhooks(**of: Any) -> None:
    """Enable those of an owner or a target (fields of Webhook) that is available again; they go on where they stopped.

    One whose target is unavailable for another reason too is disabled again at its turn.
    """
    webhooks = Webhook.objects.filter(**of).order_by("pk")
    # A deliverer may be disabling one of them: the update is a second statement, which sees that.
    list(webhooks.select_for_update())
    if webhooks.filter(disabled_reason=DisabledReason.TARGET_UNAVAILABLE).update(**WORKING):
        wakeups.announce()


def _allowed_url(url: str) -> str:
    try:
        return normalized_url(url)
    except ValueError as failure:
        raise WebhookUrlNotAllowed(f"Send another URL. {failure}", field="url") from None


def _require_place_at(host: str, owner: Account) -> None:
    """A host whose name is written with a final dot is the same one. Raises TooManyWebhooks."""
    execute(LOCK_OWNER, [str(owner.pk)])
    same = rf"^https?://\[?{re.escape(host.removesuffix('.'))}\]?\.?[:/]"
    if Webhook.objects.owned_by(owner.pk).filter(url__regex=same).count() >= WEBHOOKS_OF_HOST_MAX:
        raise TooManyWebhooks(
            "Delete one of your webhooks at this host first: you have {max}, the most allowed.",
            max=WEBHOOKS_OF_HOST_MAX,
            field="url",
        )


def _named_and_locked() -> WebhookQuerySet:
    """With the names of their targets, for the log of decisions."""
    return with_target_names(Webhook.objects.select_for_update(of=("self",)))


def _unblocked(webhook_id: UUID, owner: Account) -> Webhook:
    webhook = _locked(webhook_id, owner)
    if webhook.is_blocked:
        raise WebhookBlocked
    return webhook


def _locked(webhook_id: UUID, owner: Account) -> Webhook:
    return _required(Webhook.objects.owned_by(owner.pk).select_for_update(), webhook_id)


def _required(webhooks: WebhookQuerySet, webhook_id: UUID) -> Webhook:
    webhook = webhooks.filter(pk=webhook_id).first()
    if webhook is None:
        raise WebhookNotFound
    return webhook
