"""MACs and encryption. Every key is derived from the root key for one purpose (HKDF, RFC 5869).

New data uses `ROOT_KEY`; `ROOT_KEY_PREVIOUS` verifies and decrypts data from before a rotation.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterator
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

NONCE_BYTES = 12


def root_keys() -> Iterator[str]:
    """The current root key, then the previous one during a rotation."""
    yield settings.ROOT_KEY
    if settings.ROOT_KEY_PREVIOUS:
        yield settings.ROOT_KEY_PREVIOUS


@lru_cache(maxsize=64)
def derive(root: str, purpose: str) -> bytes:
    """A 32 byte key for one purpose."""
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose.encode()).derive(root.encode())


def mac(root: str, purpose: str, message: bytes) -> bytes:
    """HMAC-SHA256 of `message` under the key for `purpose`."""
    return hmac.digest(derive(root, purpose), message, hashlib.sha256)


def encrypt(root: str, purpose: str, secret: bytes, plain: bytes) -> bytes:
    """AES-256-GCM under a key derived from the root key for `purpose` and `secret`. Returns nonce and ciphertext."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(_encryption_key(root, purpose, secret)).encrypt(nonce, plain, None)


def decrypt(root: str, purpose: str, secret: bytes, ciphertext: bytes) -> bytes | None:
    """The plain text of `encrypt`, or None if the key differs."""
    cipher = AESGCM(_encryption_key(root, purpose, secret))
    try:
        return cipher.decrypt(ciphertext[:NONCE_BYTES], ciphertext[NONCE_BYTES:], None)
    except InvalidTag:
        return None


def _encryption_key(root: str, purpose: str, secret: bytes) -> bytes:
    """One block of HKDF-Expand, which is an HMAC: `derive` returns a uniform key already."""
    return hmac.digest(derive(root, purpose), secret + b"\x01", hashlib.sha256)
