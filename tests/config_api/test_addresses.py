"""The client address: the peer's, or the one that trusted proxies report."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import RequestFactory

from kernel.api.addresses import client_address, client_network, remote_network

PROXY = "10.0.0.1"


@pytest.fixture(autouse=True)
def _proxies(settings: Any) -> None:
    settings.TRUSTED_PROXIES = ["10.0.0.0/8", "fd00::/8"]


def seen(forwarded: str, peer: str = PROXY) -> str:
    return client_address(RequestFactory().get("/", headers={"X-Forwarded-For": forwarded}, REMOTE_ADDR=peer))


def test_a_forwarded_entry_is_an_address_with_or_without_a_port() -> None:
    expected = {
        "9.9.9.9": "9.9.9.9",
        " 9.9.9.9 ": "9.9.9.9",
        "9.9.9.9:4000": "9.9.9.9",
        "2001:db8::1": "2001:db8::1",
        "2001:DB8:0::1": "2001:db8::1",
        "[2001:db8::1]": "2001:db8::1",
        "[2001:db8::1]:443": "2001:db8::1",
        "::ffff:9.9.9.9": "9.9.9.9",
        "8.8.8.8, 9.9.9.9:1, [fd00::2]:80, 10.0.0.2:80": "9.9.9.9",
    }
    assert {forwarded: seen(forwarded) for forwarded in expected} == expected


INVALID = [
    *("", " ", "unknown", "_hidden", "9.9.9.9:", "9.9.9.9:http", "9.9.9.9:1234567", "[9.9.9.9", "9.9.9.9]", "[]"),
    *("[2001:db8::1]443", "2001:db8::1]:443", "9.9.9.999", "9.9.9.9 9.9.9.9", '"9.9.9.9"', "９.９.９.９", "a:b:c:d"),
]


def test_entries_before_an_invalid_one_are_ignored() -> None:
    for entry in INVALID:
        addresses = [seen(text.format(entry)) for text in ("8.8.8.8, {}", "8.8.8.8, {}, 10.0.0.2", "{}, 9.9.9.9")]
        assert addresses == [PROXY, "10.0.0.2", "9.9.9.9"], entry


def test_the_header_of_an_untrusted_peer_is_ignored() -> None:
    assert seen("9.9.9.9", peer="192.0.2.1") == "192.0.2.1"
    assert seen("9.9.9.9, 192.0.2.7, 10.0.0.2") == "192.0.2.7"


def test_a_trusted_proxy_may_have_an_ipv4_mapped_address() -> None:
    assert seen("9.9.9.9", peer=f"::ffff:{PROXY}") == "9.9.9.9"


def test_a_long_header_is_cheap_to_parse() -> None:
    assert seen("9.9.9.9," * 8_000 + "8.8.8.8") == "8.8.8.8"
    assert seen(":" * 60_000) == PROXY
    assert seen("[" * 60_000 + ":" * 60_000) == PROXY


def test_a_client_is_a_network_and_this_machine_is_not_remote() -> None:
    expected = {
        "9.9.9.9": ("9.9.9.9", "9.9.9.9"),
        "2001:db8::1": ("2001:db8::/64", "2001:db8::/64"),
        "::ffff:9.9.9.9": ("9.9.9.9", "9.9.9.9"),
        "127.0.0.1": ("127.0.0.1", None),
        "127.8.8.8": ("127.8.8.8", None),
        "::1": ("::/64", None),
        "::ffff:127.0.0.1": ("127.0.0.1", None),
        "": ("", None),
    }
    requests = {peer: RequestFactory().get("/", REMOTE_ADDR=peer) for peer in expected}
    assert {peer: (client_network(sent), remote_network(sent)) for peer, sent in requests.items()} == expected
