"""The client address of a request, for throttles, analytics and the log of sign-ins."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_network

from django.conf import settings
from django.http import HttpRequest

from kernel.proxies import is_trusted, parse_address

# `address`, `address:port`, `[address]` and `[address]:port`; an IPv6 address with a port has brackets.
HOP = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5}|([0-9A-Fa-f:.]+)")


def client_address(request: HttpRequest) -> str:
    """The peer's address, or an entry of `X-Forwarded-For` if the peer is a proxy in TRUSTED_PROXIES.

    The header is read from its end, one trusted proxy after the other. An entry that is not an address (`unknown`, a
    blank) ends this, because no trusted proxy has checked the entries before it.
    """
    address = str(request.META.get("REMOTE_ADDR", ""))
    if not settings.TRUSTED_PROXIES:
        return address
    for hop in reversed(request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")):
        match = HOP.fullmatch(hop.strip())
        parsed = parse_address(match[match.lastindex or 0]) if match else None
        if parsed is None or not is_trusted(address):
            break
        address = str(parsed)
    return address


def client_network(request: HttpRequest) -> str:
    """The client's IPv4 address or IPv6 /64 network, which one client usually has as a whole; throttles count it."""
    return _network_of(client_address(request))[0]


def remote_network(request: HttpRequest) -> str | None:
    """The same, or None for a client on this machine and for a peer without an address."""
    network, is_remote = _network_of(client_address(request))
    return network if is_remote else None


def truncated_network(request: HttpRequest) -> str:
    """The client's network for storage, which many clients share: /24 of IPv4, /48 of IPv6. Empty without one."""
    parsed = parse_address(client_address(request))
    return "" if parsed is None else str(ip_network(f"{parsed}/{24 if parsed.version == 4 else 48}", strict=False))


@lru_cache(maxsize=10_000)
def _network_of(address: str) -> tuple[str, bool]:
    parsed = parse_address(address)
    if parsed is None:
        return address, False
    network = str(parsed) if parsed.version == 4 else str(ip_network((int(parsed) >> 64 << 64, 64)))
    return network, not parsed.is_loopback
