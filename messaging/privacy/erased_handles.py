"""Handles of erased accounts are never given again (see `messaging.models.account`)."""

from __future__ import annotations

import os
from datetime import datetime

from kernel.api import stored_secrets
from kernel.api.stored_secrets import encrypted_again
from messaging.models import ErasedHandle, ErasedHandleKey
from messaging.models.account import PURPOSE, digest_of

KEY_BYTES = 32


def erase_handle(*, handle: str) -> None:
    """Idempotent."""
    digest = digest_of(handle, ErasedHandleKey.read() or _new_key())
    ErasedHandle.objects.bulk_create([ErasedHandle(digest=digest)], ignore_conflicts=True)


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Encrypt the key again that is under the previous root key, so that the rotation can be finished."""
    row = ErasedHandleKey.objects.first()
    ciphertext = encrypted_again(PURPOSE, row.encrypted_key) if row else None
    if ciphertext is not None and not dry_run:
        ErasedHandleKey.objects.update(encrypted_key=ciphertext)
    return {"keys of erased handles under the previous key": int(ciphertext is not None)}


def _new_key() -> bytes:
    """Create the key, unless another transaction has done so. It replaces one that cannot be decrypted."""
    encrypted = stored_secrets.encrypt(PURPOSE, os.urandom(KEY_BYTES))
    ErasedHandleKey.objects.bulk_create([ErasedHandleKey(encrypted_key=encrypted)], ignore_conflicts=True)
    ErasedHandleKey.objects.select_for_update().get()
    key = ErasedHandleKey.read()
    if key is None:
        ErasedHandleKey.objects.update(encrypted_key=encrypted)
        key = ErasedHandleKey.read()
    if key is None:
        raise RuntimeError("A key that was just encrypted cannot be decrypted.")
    return key
