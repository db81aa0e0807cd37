"""Secrets that are stored encrypted under the root key, and encrypted again when it is rotated."""

from __future__ import annotations

from contextlib import suppress

from kernel.api import signing

# As the database driver returns it.
Stored = bytes | memoryview


class SecretLost(Exception):
    """The secret was encrypted under a root key that is neither the current nor the previous one."""


def encrypt(purpose: str, plain: bytes, *, row: bytes = b"") -> bytes:
    """`row` binds the ciphertext to a row of a table."""
    return signing.encrypt(next(signing.root_keys()), purpose, row, plain)


def decrypt(purpose: str, ciphertext: Stored, *, row: bytes = b"") -> bytes:
    """Raises SecretLost."""
    for root in signing.root_keys():
        plain = signing.decrypt(root, purpose, row, bytes(ciphertext))
        if plain is not None:
            return plain
    raise SecretLost


def encrypted_again(purpose: str, ciphertext: Stored, *, row: bytes = b"") -> bytes | None:
    """The secret under the current root key if it is under the previous one; None: nothing to do."""
    if signing.decrypt(next(signing.root_keys()), purpose, row, bytes(ciphertext)) is not None:
        return None
    with suppress(SecretLost):
        return encrypt(purpose, decrypt(purpose, ciphertext, row=row), row=row)
    return None


def is_rotating() -> bool:
    """Whether secrets may be under a previous root key."""
    return len(list(signing.root_keys())) > 1
