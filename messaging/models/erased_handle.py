"""Handles of erased accounts, which are never given again, without storing them: a keyed digest of each.

The key is random, and stored encrypted under the root key, so that a copy of the database alone cannot be searched for
handles, and a rotation of the root key encrypts one value again instead of all digests.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
from datetime import datetime

from django.db import models

from config.api import signing

KEY_BYTES = 32
PURPOSE = "erased-handles"
# Where the purpose needs no further secret.
NO_SECRET = b""
logger = logging.getLogger(__name__)


class ErasedHandleKey(models.Model):
    """The key of the digests, one row, encrypted."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    encrypted_key = models.BinaryField()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_key_of_erased_handles")]


class ErasedHandle(models.Model):
    digest = models.BinaryField(primary_key=True, max_length=32)

    @classmethod
    def add(cls, handle: str) -> None:
        """Idempotent."""
        ErasedHandle.objects.bulk_create(
            [ErasedHandle(digest=_digest(handle, _key() or _new_key()))], ignore_conflicts=True
        )

    @classmethod
    def contains(cls, handle: str) -> bool:
        key = _key()
        return key is not None and cls.objects.filter(digest=_digest(handle, key)).exists()


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Encrypt the key again that is under the previous root key, so that the rotation can be finished."""
    current, *previous = signing.root_keys()
    row = ErasedHandleKey.objects.first() if previous else None
    key = _decrypted(row, previous[0]) if row else None
    if key and not dry_run:
        ErasedHandleKey.objects.update(encrypted_key=signing.encrypt(current, PURPOSE, NO_SECRET, key))
    return {"keys of erased handles under the previous key": int(key is not None)}


def _digest(handle: str, key: bytes) -> bytes:
    return hmac.digest(key, handle.encode(), hashlib.sha256)


def _key() -> bytes | None:
    """None if no handle was erased, or if the root key is lost and the key with it."""
    row = ErasedHandleKey.objects.first()
    if row is None:
        return None
    for root in signing.root_keys():
        if key := _decrypted(row, root):
            return key
    logger.error("the key of the erased handles cannot be decrypted: they can be claimed again")
    return None


def _new_key() -> bytes:
    """Create the key, unless another transaction has done so. It replaces one that cannot be decrypted."""
    encrypted = signing.encrypt(next(signing.root_keys()), PURPOSE, NO_SECRET, os.urandom(KEY_BYTES))
    ErasedHandleKey.objects.bulk_create([ErasedHandleKey(encrypted_key=encrypted)], ignore_conflicts=True)
    ErasedHandleKey.objects.select_for_update().get()
    key = _key()
    if key is None:
        ErasedHandleKey.objects.update(encrypted_key=encrypted)
        key = _key()
    if key is None:
        raise RuntimeError("A key that was just encrypted cannot be decrypted.")
    return key


def _decrypted(row: ErasedHandleKey, root: str) -> bytes | None:
    return signing.decrypt(root, PURPOSE, NO_SECRET, bytes(row.encrypted_key))
