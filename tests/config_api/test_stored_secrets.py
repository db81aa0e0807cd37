"""Secrets under the root key: an earlier release's are decrypted, those under the previous key are encrypted again."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from kernel.api import stored_secrets
from kernel.api.stored_secrets import SecretLost, encrypted_again, is_rotating
from messaging.accounts import second_factor
from messaging.models import account
from messaging.webhooks import secrets

OF_WEBHOOK = "abe50bc01c6442a97b9a7fc3c5038ec4a7ac7c2a5e4f73fa12ff1442dec33d9b0025041c85c1"
OF_APP = "pfpCVoYv9BNYoJJzEoA/9w1DKAUD3/pkHDRw4K9b6gLLVJSc"
KEY_OF_HANDLES = (
    "2b1929a36f889557d4b9e26b681241212f89052313f1547e1a5d1d58b290125de4b6ed9539702558226d7e4c646fee313a414410858fe109"
    "74256c65"
)


def test_secrets_that_an_earlier_release_stored_are_decrypted(settings: Any) -> None:
    settings.ROOT_KEY = "a root key"
    assert secrets.decrypt(bytes.fromhex(OF_WEBHOOK), webhook_id=UUID(int=1)) == "whsec_AAAA"
    assert second_factor.decrypt(OF_APP) == "JBSWY3DP"
    assert stored_secrets.decrypt(account.PURPOSE, bytes.fromhex(KEY_OF_HANDLES)) == b"k" * 32


def test_a_secret_under_the_previous_key_is_encrypted_again(settings: Any) -> None:
    settings.ROOT_KEY, settings.ROOT_KEY_PREVIOUS = "old", ""
    stored = stored_secrets.encrypt("a purpose", b"secret", row=b"row")
    assert not is_rotating()
    assert encrypted_again("a purpose", stored, row=b"row") is None
    settings.ROOT_KEY, settings.ROOT_KEY_PREVIOUS = "new", "old"
    assert is_rotating()
    again = encrypted_again("a purpose", stored, row=b"row")
    assert again is not None
    settings.ROOT_KEY_PREVIOUS = ""
    assert stored_secrets.decrypt("a purpose", again, row=b"row") == b"secret"
    assert encrypted_again("a purpose", again, row=b"row") is None


def test_a_secret_of_another_row_or_under_an_unknown_key_is_lost(settings: Any) -> None:
    settings.ROOT_KEY, settings.ROOT_KEY_PREVIOUS = "new", "old"
    stored = stored_secrets.encrypt("a purpose", b"secret", row=b"row")
    with pytest.raises(SecretLost):
        stored_secrets.decrypt("a purpose", stored, row=b"another row")
    settings.ROOT_KEY = "newest"
    with pytest.raises(SecretLost):
        stored_secrets.decrypt("a purpose", stored, row=b"row")
    assert encrypted_again("a purpose", stored, row=b"row") is None
