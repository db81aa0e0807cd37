"""Handles of erased accounts, which are never given again, without storing them: a keyed digest of each.

The key is random, and stored encrypted under the root key, so that a copy of the database alone cannot be searched for
handles, and a rotation of the root key encrypts one value again instead of all digests.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from contextlib import suppress

from django.db import models

from kernel.api.stored_secrets import SecretLost, decrypt

PURPOSE = "erased-handles"
logger = logging.getLogger(__name__)


class ErasedHandleKey(models.Model):
    """The key of the digests, one row, encrypted."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    encrypted_key = models.BinaryField()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_key_of_erased_handles")]

    @classmethod
    def read(cls) -> bytes | None:
        """None if no handle was erased, or if the root key is lost and the key with it."""
        row = cls.objects.first()
        if row is None:
            return None
        with suppress(SecretLost):
            return decrypt(PURPOSE, row.encrypted_key)
        logger.error("the key of the erased handles cannot be decrypted: they can be claimed again")
        return None


class ErasedHandle(models.Model):
    digest = models.BinaryField(primary_key=True, max_length=32)

    @classmethod
    def contains(cls, handle: str) -> bool:
        key = ErasedHandleKey.read()
        return key is not None and cls.objects.filter(digest=digest_of(handle, key)).exists()


def digest_of(handle: str, key: bytes) -> bytes:
    return hmac.digest(key, handle.encode(), hashlib.sha256)
