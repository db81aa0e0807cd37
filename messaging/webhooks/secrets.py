"""Secrets of webhooks and signatures as in Standard Webhooks (https://www.standardwebhooks.com).

A secret is stored encrypted under the root key, because each delivery is signed with it.

Encrypts secrets of webhooks again that are under the previous root key, so that its rotation can be finished.
"""

from __future__ import annotations

import base64
import os
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from standardwebhooks import Webhook as Signer

from kernel.api import stored_secrets
from kernel.api.stored_secrets import SecretLost, Stored, is_rotating
from messaging.models import Webhook

SECRET_BYTES = 32
PREFIX = "whsec_"
# Of the key that secrets are encrypted under, together with the id of the webhook.
PURPOSE = "webhook-secret"


def new_secret() -> str:
    return PREFIX + base64.b64encode(os.urandom(SECRET_BYTES)).decode()


def encrypt(secret: str, *, webhook_id: UUID) -> bytes:
    return stored_secrets.encrypt(PURPOSE, secret.encode(), row=webhook_id.bytes)


def decrypt(ciphertext: Stored, *, webhook_id: UUID) -> str:
    """Raises SecretLost."""
    return stored_secrets.decrypt(PURPOSE, ciphertext, row=webhook_id.bytes).decode()


def encrypted_again(ciphertext: Stored | None, *, webhook_id: UUID) -> bytes | None:
    """As `stored_secrets.encrypted_again`; None also without a secret."""
    return None if ciphertext is None else stored_secrets.encrypted_again(PURPOSE, ciphertext, row=webhook_id.bytes)


def signed_headers(webhook: Webhook, *, event_id: UUID, body: bytes, now: datetime) -> dict[str, str]:
    """The headers of a request. After a rotation both secrets sign for a time. Raises SecretLost."""
    secrets = [decrypt(webhook.secret, webhook_id=webhook.pk)]
    until = webhook.previous_secret_until
    if webhook.previous_secret is not None and until is not None and until > now:
        with suppress(SecretLost):
            secrets.append(decrypt(webhook.previous_secret, webhook_id=webhook.pk))
    name = f"evt_{event_id.hex}"
    return {
        "Content-Type": "application/json",
        "User-Agent": "community-messaging",
        "webhook-id": name,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(Signer(secret).sign(name, now, body.decode()) for secret in secrets),
    }


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
