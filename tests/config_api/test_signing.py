"""A ciphertext decrypts only with the key and secret that encrypted it."""

from __future__ import annotations

from typing import Any

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from hypothesis import given
from hypothesis import strategies as st

from kernel.api import signing
from kernel.writes import idempotency


@given(st.binary(max_size=500), st.binary(min_size=1, max_size=60), st.binary(min_size=1, max_size=60))
def test_a_ciphertext_decrypts_only_with_its_secret(plain: bytes, secret: bytes, other: bytes) -> None:
    encrypted = signing.encrypt("root", "a purpose", secret, plain)
    assert signing.decrypt("root", "a purpose", secret, encrypted) == plain
    assert signing.decrypt("root", "another purpose", secret, encrypted) is None
    assert signing.decrypt("another root", "a purpose", secret, encrypted) is None
    assert secret == other or signing.decrypt("root", "a purpose", other, encrypted) is None


@given(st.binary(min_size=1, max_size=40), st.integers(min_value=0), st.integers(1, 255))
def test_a_changed_byte_is_not_decrypted(plain: bytes, place: int, change: int) -> None:
    encrypted = bytearray(signing.encrypt("root", "a purpose", b"secret", plain))
    encrypted[place % len(encrypted)] ^= change
    assert signing.decrypt("root", "a purpose", b"secret", bytes(encrypted)) is None


def test_two_encryptions_of_a_text_differ() -> None:
    assert len({signing.encrypt("root", "a purpose", b"secret", b"text") for _ in range(20)}) == 20


def test_every_purpose_has_its_own_key() -> None:
    assert signing.derive("root", "cursor") != signing.derive("root", "idempotency-key")
    assert signing.derive("root", "cursor") != signing.derive("other", "cursor")
    assert signing.mac("root", "cursor", b"x") != signing.mac("root", "idempotency-key", b"x")
    assert len(signing.derive("root", "cursor")) == 32


def test_the_current_root_key_comes_first(settings: Any) -> None:
    settings.ROOT_KEY, settings.ROOT_KEY_PREVIOUS = "new", "old"
    assert list(signing.root_keys()) == ["new", "old"]
    settings.ROOT_KEY_PREVIOUS = ""
    assert list(signing.root_keys()) == ["new"]


@given(secret=st.binary(max_size=300))
def test_the_encryption_key_is_an_expansion_by_hkdf(secret: bytes) -> None:
    """RFC 5869, section 2.3."""
    expansion = HKDFExpand(algorithm=SHA256(), length=32, info=secret)
    assert signing._encryption_key("root", "a purpose", secret) == expansion.derive(signing.derive("root", "a purpose"))


def test_a_response_that_an_earlier_release_stored_is_decrypted() -> None:
    stored = bytes.fromhex("6b0306ca8398a93cbe5a7a28b087afa4010eea1d245989ab24f2a31dd10f089e95e594c66c")
    assert signing.decrypt("a root key", idempotency.PURPOSE, b"an account and a key", stored) == b'{"id": 1}'
