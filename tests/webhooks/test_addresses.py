"""Webhooks are sent to global addresses only."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from typing import Any

import pytest

from messaging.models import DeliveryError
from messaging.webhooks.exceptions import NotSent
from messaging.webhooks.posting import is_global, may_be_global, resolve

GLOBAL = [
    "93.184.215.14",
    "8.8.8.8",
    "1.0.0.1",
    "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
    "::ffff:808:808",
    "64:ff9b::808:808",
]
NOT_GLOBAL = [
    # This network, private, shared, loopback, link-local with the metadata service, benchmarks, documentation.
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.127.255.255"),
    *("127.0.0.1", "127.255.255.254", "169.254.169.254", "198.18.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1"),
    # Multicast, reserved, broadcast, relays of 6to4.
    *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "192.88.99.1"),
    # The same in IPv6.
    *("::", "::1", "fe80::1", "fe80::1%lo", "fec0::1", "fc00::1", "fd12:3456::1", "ff02::1", "ff0e::1", "2001:db8::1"),
    # IPv4 in IPv6: mapped, compatible, NAT64 (also of an operator's own network), 6to4, Teredo.
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:100.64.0.1", "::127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::808:808", "64:ff9b::e000:1"),
    *("2002:7f00:1::1", "2002:a00:1::1", "2002:808:808::1", "2001:0:53aa:64c:0:5efe:7f00:1", "100::1"),
]


def test_a_global_address_is_allowed() -> None:
    for address in GLOBAL:
        assert is_global(ip_address(address)), address
        assert resolve(address, 443) == [address], address


def test_any_other_address_is_not() -> None:
    for address in NOT_GLOBAL:
        assert not is_global(ip_address(address)), address
        with pytest.raises(NotSent) as refused:
            resolve(address, 443)
        assert refused.value.error is DeliveryError.ADDRESS_NOT_ALLOWED, address


def test_a_host_that_may_be_global_is_looked_up_at_its_delivery() -> None:
    for host in ["example.com", "example.com.", "localhost.example", "my-local", "8.8.8.8"]:
        assert may_be_global(host) == (host != "my-local"), host


def answers(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """A name server that has these addresses for every name."""

    def look_up(host: str, port: int, **_options: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


def test_a_name_is_allowed_if_all_its_addresses_are(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "8.8.8.8", "1.0.0.1")
    assert resolve("receiver.example", 443) == ["8.8.8.8", "1.0.0.1"]
    answers(monkeypatch, "8.8.8.8", "10.0.0.1")
    with pytest.raises(NotSent) as refused:
        resolve("receiver.example", 443)
    assert refused.value.error is DeliveryError.ADDRESS_NOT_ALLOWED


def test_a_name_without_an_address_has_the_error_of_one_that_is_not_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    for host in ["", "a" * 300, "a..b", "no-such-host.invalid", "\u2603" * 100]:

        def look_up(host: str, port: int, **_options: Any) -> list[Any]:
            host.encode("idna")
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        with pytest.raises(NotSent) as refused:
            resolve(host, 443)
        assert refused.value.error is DeliveryError.ADDRESS_NOT_ALLOWED, host


def test_local_addresses_are_allowed_by_the_setting(settings: Any) -> None:
    settings.WEBHOOKS_ALLOW_LOCAL = True
    assert resolve("127.0.0.1", 80) == ["127.0.0.1"]
    assert resolve("localhost", 80)
