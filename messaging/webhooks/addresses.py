"""Which addresses webhooks may be sent to: global ones only, so that no request reaches the operator's network."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings

from messaging.models import DeliveryError
from messaging.webhooks.exceptions import NotSent

Address = IPv4Address | IPv6Address
GLOBAL_UNICAST = ip_network("2000::/3")
NAT64 = ip_network("64:ff9b::/96")
# Inside global networks: the tunnels Teredo and 6to4, whose addresses contain any IPv4 address, and 6to4's relays.
TUNNELS = tuple(map(ip_network, ("2001::/32", "2002::/16", "192.88.99.0/24")))
# Names under these domains belong to one machine or network.
LOCAL_DOMAINS = frozenset({"localhost", "local", "internal"})


def is_global(address: Address) -> bool:
    """Whether an address is another machine of the internet: unicast and routed, also as an IPv4 address in IPv6."""
    if isinstance(address, IPv6Address):
        embedded = _embedded(address)
        if embedded is not None:
            return is_global(embedded)
        if address not in GLOBAL_UNICAST:
            return False
    return address.is_global and not address.is_multicast and not any(address in network for network in TUNNELS)


def may_be_global(host: str) -> bool:
    """Whether a host is a global address, or a name that may have one. No name is looked up."""
    if literal := _literal(host):
        return is_global(literal)
    *parents, domain = host.removesuffix(".").split(".")
    return bool(parents) and domain not in LOCAL_DOMAINS


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host name, which may all be used. Blocks; raises NotSent without telling why."""
    addresses = [literal] if (literal := _literal(host)) else _look_up(host, port)
    if not addresses or not (settings.WEBHOOKS_ALLOW_LOCAL or all(map(is_global, addresses))):
        raise NotSent(DeliveryError.ADDRESS_NOT_ALLOWED)
    return list(map(str, addresses))


def _embedded(address: IPv6Address) -> IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return IPv4Address(address.packed[-4:]) if address in NAT64 else None


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def _look_up(host: str, port: int) -> list[Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    # A link-local address has a zone: `fe80::1%eth0`.
    return [ip_address(str(entry[4][0])) for entry in found]
