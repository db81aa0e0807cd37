"""The address a call comes from, as throttles and analytics count it."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

# `address`, `address:port`, `[address]` and `[address]:port`; an IPv6 address with a port has brackets.
HOP = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5}|([0-9A-Fa-f:.]+)")


def client_address(request: HttpRequest) -> str:
    """The peer's address; `X-Forwarded-For` counts only where the peer is a proxy named in TRUSTED_PROXIES.

    It is read from its end, one trusted proxy after the other. An entry that is no address (`unknown`, a blank) ends
    that: nothing before it is vouched for.
    """
    address = str(request.META.get("REMOTE_ADDR", ""))
    if not settings.TRUSTED_PROXIES:
        return address
    for hop in reversed(request.headers.get("X-Forwarded-For", "").split(",")):
        found = HOP.fullmatch(hop.strip())
        parsed = _parsed(found[found.lastindex or 0]) if found else None
        if parsed is None or not _is_trusted(address):
            break
        address = str(parsed)
    return address


def client_network(request: HttpRequest) -> str:
    """Whom a throttle counts: the client's address, of IPv6 the /64 around it, all of which one client is given."""
    return _network_of(client_address(request))[0]


def remote_network(request: HttpRequest) -> str | None:
    """The same, None for a caller on this machine, and for a peer without an address."""
    network, is_remote = _network_of(client_address(request))
    return network if is_remote else None


@lru_cache(maxsize=10_000)
def _network_of(address: str) -> tuple[str, bool]:
    found = _parsed(address)
    if found is None:
        return address, False
    network = str(found) if found.version == 4 else str(ip_network((int(found) >> 64 << 64, 64)))
    return network, not found.is_loopback


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    """IPv4 within IPv6 is IPv4: a socket for both shows it so."""
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if found.version == 6 else found


def _is_trusted(address: str) -> bool:
    peer = _parsed(address)
    if peer is None:
        # A unix socket has no address; only a proxy on this host can be behind it.
        return not address
    return any(peer in ip_network(network, strict=False) for network in settings.TRUSTED_PROXIES)
