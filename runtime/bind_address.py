"""The address that the server listens on, and the origin for this machine."""

import socket
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

from config import env

PORT_MAX = 65535
HTTP = 80


def host() -> IPv4Address | IPv6Address:
    """Raises ImproperlyConfigured for a HOST that is not an address."""
    return env.address("HOST", "127.0.0.1")


def metrics_host() -> IPv4Address | IPv6Address:
    return env.address("METRICS_HOST", str(host()))


def family(address: IPv4Address | IPv6Address) -> socket.AddressFamily:
    return socket.AF_INET6 if address.version == 6 else socket.AF_INET


def origin(port: int) -> str:
    """An origin such as `http://[::1]:8000`. For all addresses (`0.0.0.0`, `::`) it has the loopback address.

    As browsers send it (`env.origin`): without the default port.
    """
    return f"http://{in_url(local_host())}" + (f":{port}" if port != HTTP else "")


def local_host() -> str:
    """The address at which this machine reaches the server."""
    address = host()
    loopback = "::1" if address.version == 6 else "127.0.0.1"
    return loopback if address.is_unspecified else str(address)


def stream_port(port: int) -> int:
    """The port of the stream process, by default the one after `port`."""
    return env.integer("STREAM_PORT", port_beside(port), minimum=1, maximum=PORT_MAX)


def port_beside(port: int) -> int:
    return port + 1 if port < PORT_MAX else port - 1


def stream_origin(port: int, base_url: str) -> str:
    """The public origin of streams: that of the service, where a proxy passes them on, else the other port."""
    return origin(stream_port(port)) if base_url == origin(port) else base_url


def in_url(host: str) -> str:
    """A host as in an origin or a Host header: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def local_hosts_and(*urls: str) -> list[str]:
    """The names of this machine and the hosts of these addresses."""
    return sorted({"localhost", "127.0.0.1", "[::1]", *(in_url(urlsplit(url).hostname or "") for url in urls)})
