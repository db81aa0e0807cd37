"""The settings of proofs of hosts, for which the service asks the domain name system."""

import re
from ipaddress import ip_address

from django.core.exceptions import ImproperlyConfigured

from config import env

_RESOLVER = re.compile(r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<v4>[0-9.]+))(?::(?P<port>[0-9]{1,5}))?", re.ASCII)
_DNS_PORT = 53


def _resolver() -> tuple[str, int] | None:
    """The address and port of the name server to ask; None for those of the system."""
    value = env.text("DOMAIN_RESOLVER")
    if not value:
        return None
    found = _RESOLVER.fullmatch(value)
    try:
        address = str(ip_address((found["v6"] or found["v4"]) if found else value))
        port = int(found["port"] or _DNS_PORT) if found else _DNS_PORT
    except ValueError:
        port = 0
    if not 0 < port < 65536:
        raise ImproperlyConfigured(f"DOMAIN_RESOLVER is {value!r}: write an address such as 192.0.2.53 or [::1]:5353.")
    return address, port


# Only with DOMAIN_CHECKS=1 communities can prove hosts.
DOMAIN_CHECKS = env.flag("DOMAIN_CHECKS", default=False)
DOMAIN_RESOLVER = _resolver()
# Seconds in which the record of a host has to be found.
DOMAIN_TIMEOUT = 5.0
