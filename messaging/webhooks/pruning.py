"""Encrypts secrets of webhooks again that are under the previous root key, so that its rotation can be finished."""

from __future__ import annotations

from datetime import datetime

from kernel.api.stored_secrets import is_rotating
from messaging.models import Webhook
from messaging.webhooks.secrets import encrypted_again


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Return the number of webhooks whose secrets were (or would be) encrypted again."""
    rows = Webhook.objects.iterator() if is_rotating() else ()
    return {"webhook secrets under the previous key": sum(_renew(row, dry_run=dry_run) for row in rows)}


def _renew(webhook: Webhook, *, dry_run: bool) -> bool:
    stored = {"secret": webhook.secret, "previous_secret": webhook.previous_secret}
    renewed = {
        name: ciphertext
        for name, value in stored.items()
        if (ciphertext := encrypted_again(value, webhook_id=webhook.pk)) is not None
    }
    if renewed and not dry_run:
        # Its owner may have changed the secret meanwhile.
        Webhook.objects.filter(pk=webhook.pk, **stored).update(**renewed)
    return bool(renewed)
