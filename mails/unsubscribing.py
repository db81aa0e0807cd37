"""Links that switch off one kind of mail without signing in (RFC 8058).

They work as long as the root key that has signed them is known, and serve for nothing else.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from uuid import UUID

from django.conf import settings
from django.urls import reverse

from kernel.api import signing
from mails.kinds import Kind

PURPOSE = "mail-unsubscribe"
MAC_BYTES = 16


def unsubscribe_url(account_id: UUID, kind: Kind) -> str:
    token = account_id.bytes + _mac(next(signing.root_keys()), account_id, kind)
    text = base64.urlsafe_b64encode(token).rstrip(b"=").decode()
    return f"{settings.BASE_URL}{reverse('unsubscribe', kwargs={'kind': kind.value, 'token': text})}"


def account_of(kind: str, token: str) -> UUID | None:
    """The account that a link is for; None: it is not a link of this service."""
    try:
        raw = base64.b64decode(token.encode("ascii") + b"=" * (-len(token) % 4), altchars=b"-_", validate=True)
        known = Kind(kind)
    except (ValueError, binascii.Error):
        return None
    if len(raw) != 16 + MAC_BYTES:
        return None
    account_id = UUID(bytes=raw[:16])
    is_ours = any(hmac.compare_digest(raw[16:], _mac(key, account_id, known)) for key in signing.root_keys())
    return account_id if is_ours else None


def _mac(root: str, account_id: UUID, kind: Kind) -> bytes:
    return signing.mac(root, PURPOSE, kind.value.encode() + b":" + account_id.bytes)[:MAC_BYTES]
