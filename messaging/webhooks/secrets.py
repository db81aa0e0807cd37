"""Secrets of webhooks and signatures as in Standard Webhooks (https://www.standardwebhooks.com).

A secret is stored encrypted under the root key, because each delivery is signed with it.
"""

from __future__ import annotations

import base64
import os
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from standardwebhooks import Webhook as Signer

from config.api import signing
from messaging.models import Webhook

SECRET_BYTES = 32
PREFIX = "whsec_"
# Of the key that secrets are encrypted under, together with the id of the webhook.
PURPOSE = "webhook-secret"
# As the database driver returns it.
Stored = bytes | memoryview


class SecretLost(Exception):
    """The secret was encrypted under a root key that is neither the current nor the previous one."""


def new_secret() -> str:
    return PREFIX + base64.b64encode(os.urandom(SECRET_BYTES)).decode()


def encrypt(secret: str, *, webhook_id: UUID) -> bytes:
    return signing.encrypt(next(signing.root_keys()), PURPOSE, webhook_id.bytes, secret.encode())


def decrypt(ciphertext: Stored, *, webhook_id: UUID) -> str:
    """Raises SecretLost."""
    for root in signing.root_keys():
        secret = signing.decrypt(root, PURPOSE, webhook_id.bytes, bytes(ciphertext))
        if secret is not None:
            return secret.decode()
    raise SecretLost


def encrypted_again(ciphertext: Stored | None, *, webhook_id: UUID) -> bytes | None:
    """The secret under the current root key if it is under the previous one; None: nothing to do."""
    if ciphertext is None:
        return None
    if signing.decrypt(next(signing.root_keys()), PURPOSE, webhook_id.bytes, bytes(ciphertext)) is not None:
        return None
    with suppress(SecretLost):
        return encrypt(decrypt(ciphertext, webhook_id=webhook_id), webhook_id=webhook_id)
    return None


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
