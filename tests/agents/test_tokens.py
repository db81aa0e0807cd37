"""The format, checksum and digests of agent tokens."""

from __future__ import annotations

import re
import string
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import tokens


def test_minted_tokens_have_the_shape_and_are_unique() -> None:
    """Credentials: cag_, 40 base62 characters, a checksum of 6."""
    assert re.fullmatch(r"cag_[0-9A-Za-z]{46}", tokens.mint())
    assert len({tokens.mint() for _ in range(100)}) == 100


def test_checksum_is_crc32_in_base62() -> None:
    body, digits = "cag_" + "0" * 40, string.digits + string.ascii_uppercase + string.ascii_lowercase
    number = 0
    for digit in tokens.checksum(body):
        number = number * 62 + digits.index(digit)
    assert number == zlib.crc32(body.encode())
    assert len(tokens.checksum(body)) == 6


@given(st.integers(0, 49), st.characters(codec="ascii"))
def test_checksum_detects_one_changed_character(position: int, character: str) -> None:
    token = tokens.mint()
    changed = token[:position] + character + token[position + 1 :]
    assert tokens.is_well_formed(changed) == (changed == token)


@given(st.text(max_size=80))
def test_arbitrary_text_is_not_well_formed(text: str) -> None:
    assert not tokens.is_well_formed(text)
    assert not tokens.is_well_formed(tokens.mint() + text) or text == ""


def test_digests_use_the_current_and_the_previous_pepper(settings: Any) -> None:
    settings.TOKEN_PEPPER, settings.TOKEN_PEPPER_PREVIOUS = "new" * 20, ""
    token = tokens.mint()
    assert tokens.digests(token) == [tokens.digest(token)]
    settings.TOKEN_PEPPER, settings.TOKEN_PEPPER_PREVIOUS = "newer" * 20, "new" * 20
    assert tokens.digests(token)[0] == tokens.digest(token) != tokens.digests(token)[1]


@pytest.mark.parametrize("pepper", ["a" * 32, "b" * 32])
def test_digest_has_32_bytes_and_does_not_contain_the_token(settings: Any, pepper: str) -> None:
    settings.TOKEN_PEPPER = pepper
    token = tokens.mint()
    assert len(tokens.digest(token)) == tokens.DIGEST_BYTES
    assert token[4:].encode() not in tokens.digest(token)
