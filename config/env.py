"""Typed environment variables. An invalid value raises ImproperlyConfigured with the name of the variable."""

import os
import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

_FLAGS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}

_ORIGIN = re.compile(
    r"(?P<scheme>https?)://(?P<host>[\w.-]+|\[[^\]\s/@?#]+\])(?::(?P<port>[0-9]{1,5}))?(?:/+(?P<path>[^?#]*))?",
    re.ASCII,
)
_GREETING = re.compile(r"[a-z0-9][a-z0-9.-]{0,254}|\[[a-z0-9:.]{2,60}\]", re.IGNORECASE | re.ASCII)
_RESOLVER = re.compile(r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<v4>[0-9.]+))(?::(?P<port>[0-9]{1,5}))?", re.ASCII)
_DNS_PORT = 53
_PORTS = {"http": 80, "https": 443}


def text(name: str, default: str = "") -> str:
    """The variable without surrounding white space; an empty variable counts as unset."""
    return os.environ.get(name, "").strip() or default


def flag(name: str, *, default: bool) -> bool:
    value = text(name).lower()
    if not value:
        return default
    if value not in _FLAGS:
        raise ImproperlyConfigured(f"{name} is {value!r}: write 1 or 0.")
    return _FLAGS[value]


def integer(name: str, default: int, *, minimum: int = 0, maximum: int = 2**31 - 1) -> int:
    value = text(name)
    if not value:
        return default
    # ASCII digits only: int() also accepts "1_0", full-width digits and white space.
    if not (value.isascii() and value.isdigit()) or not minimum <= int(value) <= maximum:
        raise ImproperlyConfigured(f"{name} is {value!r}: write a whole number from {minimum} to {maximum}.")
    return int(value)


def words(name: str, default: Sequence[str] = ()) -> list[str]:
    """A list of entries separated by commas."""
    return [entry.strip() for entry in text(name).split(",") if entry.strip()] or list(default)


def greeting(name: str) -> str:
    """A host name, or an address in brackets, as in HELO of SMTP."""
    value = text(name)
    if value and not _GREETING.fullmatch(value):
        raise ImproperlyConfigured(f"{name} is {value!r}: write a name such as mail.example.com, or [192.0.2.1].")
    return value


def address(name: str, default: str) -> IPv4Address | IPv6Address:
    """An IP address; brackets around an IPv6 address are optional."""
    value = text(name, default)
    try:
        return ip_address(value[1:-1] if value.startswith("[") and value.endswith("]") else value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}: write an address such as 127.0.0.1, ::1 or ::.") from None


def networks(name: str) -> list[str]:
    """Addresses and networks separated by commas."""
    entries = words(name)
    for entry in entries:
        try:
            ip_network(entry, strict=False)
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} contains {entry!r}: write addresses or networks such as 10.0.0.0/8."
            ) from None
    return entries


def choice(name: str, default: str, allowed: Sequence[str]) -> str:
    value = text(name, default)
    if value not in allowed:
        raise ImproperlyConfigured(f"{name} is {value!r}: write one of {', '.join(allowed)}.")
    return value


def origin(name: str, default: str) -> str:
    """An origin such as `https://api.example.com` as browsers send it: in lower case, without the default port."""
    value = text(name, default)
    found = _ORIGIN.fullmatch(value)
    if not found or int(found["port"] or 0) > 65535:
        raise ImproperlyConfigured(f"{name} is {value!r}: write an origin such as https://api.example.com.")
    if found["path"]:
        raise ImproperlyConfigured(
            f"{name} is {value!r}, but the service is not served below a path: give it a host or a port of its own, "
            "such as https://community.example.com."
        )
    scheme, host, port = found["scheme"], found["host"].lower(), found["port"]
    return f"{scheme}://{host}" if port is None or int(port) == _PORTS[scheme] else f"{scheme}://{host}:{int(port)}"


def contact(name: str) -> str:
    """A `mailto:`, `tel:` or `https:` address (RFC 9116), or nothing."""
    value = text(name)
    if value and not (re.fullmatch(r"(mailto:|tel:|https://)[!-~]+", value)):
        raise ImproperlyConfigured(f"{name} is {value!r}: write an address such as mailto:security@example.com.")
    return value


def content_signal(name: str, default: str) -> str:
    """The preferences of robots.txt: `search`, `ai-input` and `ai-train`, each `yes` or `no`."""
    value = text(name, default)
    if not re.fullmatch(r"((search|ai-input|ai-train)=(yes|no)(, ?(?!$)|$))+", value):
        raise ImproperlyConfigured(f"{name} is {value!r}: write preferences such as {default}.")
    return value


def link(name: str) -> str:
    """An http or https address of a page, or nothing."""
    value = text(name)
    if value and not re.fullmatch(r"https?://[!-~]+", value):
        raise ImproperlyConfigured(f"{name} is {value!r}: write an address such as https://example.com/page.")
    return value


def folder(name: str, default: Path) -> Path:
    return Path(text(name, str(default))).expanduser().resolve()


def resolver(name: str) -> tuple[str, int] | None:
    """The address and port of a name server; None if it is unset."""
    value = text(name)
    if not value:
        return None
    found = _RESOLVER.fullmatch(value)
    try:
        address = str(ip_address((found["v6"] or found["v4"]) if found else value))
        port = int(found["port"] or _DNS_PORT) if found else _DNS_PORT
    except ValueError:
        port = 0
    if not 0 < port < 65536:
        raise ImproperlyConfigured(f"{name} is {value!r}: write an address such as 192.0.2.53 or [::1]:5353.")
    return address, port
