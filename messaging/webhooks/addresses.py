"""Which addresses webhooks may be sent to: global ones only, so that no request reaches the operator's network."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotDone
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings

from messaging.models import DeliveryError
from messaging.webhooks.exceptions import NotSent

Address = IPv4Address | IPv6Address
GLOBAL_UNICAST = ip_network("2000::/3")
NAT64 = ip_network("64:ff9b::/96")
# Inside global networks: the tunnels Teredo and 6to4, whose addresses contain any IPv4 address, and 6to4's relays.
TUNNELS = tuple(map(ip_network, ("2001::/32", "2002::/16", "192.88.99.0/24")))
# How long a request of the API waits for the name server.
LOOKUP_SECONDS = 2.0
_lookups = ThreadPoolExecutor(4, thread_name_prefix="lookup")


def is_global(address: Address) -> bool:
    """Whether an address is another machine of the internet: unicast and routed, also as an IPv4 address in IPv6."""
    if isinstance(address, IPv6Address):
        embedded = _embedded(address)
        if embedded is not None:
            return is_global(embedded)
        if address not in GLOBAL_UNICAST:
            return False
    return address.is_global and not address.is_multicast and not any(address in network for network in TUNNELS)


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host name, which may all be used. Blocks; raises NotSent."""
    addresses = [literal] if (literal := _literal(host)) else _look_up(host, port)
    if not settings.WEBHOOKS_ALLOW_LOCAL and not all(map(is_global, addresses)):
        raise NotSent(DeliveryError.ADDRESS_NOT_ALLOWED)
    return list(map(str, addresses))


def resolve_quickly(host: str, port: int) -> list[str]:
    """The same within LOOKUP_SECONDS."""
    try:
        return _lookups.submit(resolve, host, port).result(LOOKUP_SECONDS)
    except NotDone:
        raise NotSent(DeliveryError.UNRESOLVED) from None


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
        raise NotSent(DeliveryError.UNRESOLVED) from None
    # A link-local address has a zone: `fe80::1%eth0`.
    return [ip_address(str(entry[4][0])) for entry in found]
