"""Which peers are proxies in front of this service (`TRUSTED_PROXIES`)."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings


def is_trusted(address: str) -> bool:
    """Whether the headers are believed that a peer with this address adds to a request."""
    networks = tuple(settings.TRUSTED_PROXIES)
    # A peer on a unix socket has no address, and is a proxy on this host.
    return is_in(address, networks) if address else bool(networks)


def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """An IPv4-mapped IPv6 address becomes IPv4: a dual-stack socket reports IPv4 peers in that form."""
    try:
        parsed = ip_address(text)
    except ValueError:
        return None
    return (parsed.ipv4_mapped or parsed) if parsed.version == 6 else parsed


# Every request through a proxy asks for the same address; parsing it would cost more than a cached response.
@lru_cache(maxsize=1_000)
def is_in(address: str, networks: tuple[str, ...]) -> bool:
    """Whether an address is in one of these networks; False for what is no address."""
    peer = parse_address(address)
    return peer is not None and any(peer in ip_network(network, strict=False) for network in networks)
