"""Which hosts a widget may run on: entries, how they are written, and whether a host matches them.

An entry is a host with an optional port. `example.com` holds for itself and for `www.example.com`, `*.example.com` for
every subdomain and not for the apex; an entry without a port holds for every port. Names are compared the way browsers
write them (lower case, IDNA in ASCII), label by label from the right, never as a substring.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ada_url import URL

ENTRY_MAX = 300
HOST_MAX = 253
# What a browser would skip, decode, or take for the start of another part of a URL.
NO_HOST = re.compile(r"[\s\x00-\x20\x7f/?#@\\%*]|:\Z")
# An entry as it is stored: nothing in it can end a source, a directive or a policy of a Content-Security-Policy.
ENTRY = re.compile(r"(?:(?:\*\.)?[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?\Z")
PORT = re.compile(r":([0-9]{1,5})\Z", re.ASCII)
PORT_MAX = 65_535
DEFAULT_PORTS = ("80", "443")
OPAQUE = "null"


class InvalidDomain(ValueError):
    """Not a host with an optional port."""


def normalize_entry(text: str) -> str:
    """An entry in the one form in which entries are stored and compared; raises InvalidDomain."""
    wildcard = "*." if text.startswith("*.") else ""
    name, port = _split(text.removeprefix("*."))
    entry = wildcard + name + (f":{port}" if port else "")
    if not is_entry(entry):
        raise InvalidDomain(text)
    return entry


def is_entry(text: str) -> bool:
    """Whether `text` consists of what an entry consists of; rows of earlier releases may hold others."""
    return ENTRY.match(text) is not None


def is_host(text: str) -> bool:
    """Whether `text` is one host as browsers write it, with its port where it is no default one."""
    try:
        return text != OPAQUE and "*" not in text and normalize_entry(text) == text
    except InvalidDomain:
        return False


def is_allowed(host: str, *, whitelist: Collection[str], blacklist: Collection[str]) -> bool:
    """Whether a widget may run on `host` (with its port where it is no default one). Entries are normalised ones.

    An empty whitelist allows any host; the blacklist beats it. What is no host, an opaque origin above all, is on no
    list: it passes only where there is no whitelist.
    """
    try:
        name, port = _split(host)
    except InvalidDomain:
        return not whitelist
    if name == OPAQUE:
        return not whitelist
    spellings = set(_spellings(name, port))
    return spellings.isdisjoint(blacklist) and (not whitelist or not spellings.isdisjoint(whitelist))


def host_of_origin(origin: str) -> str:
    """The host of an Origin header; `null` for whatever is no web page's origin."""
    scheme, separator, host = origin.partition("://")
    return host if separator and scheme.lower() in ("http", "https") else OPAQUE


def host_of_url(url: str) -> str:
    """The host of a web page's address; `null` where there is none."""
    try:
        return URL(url).host or OPAQUE
    except ValueError:
        return OPAQUE


def _split(text: str) -> tuple[str, str]:
    """(name, port or ""), as browsers write them; raises InvalidDomain."""
    found = PORT.search(text)
    name = text[: found.start()] if found else text
    port = found.group(1).lstrip("0") if found else ""
    if len(text) > ENTRY_MAX or NO_HOST.search(name) or (found and not 0 < int(port or 0) <= PORT_MAX):
        raise InvalidDomain(text)
    try:
        written = URL(f"https://{name}").hostname.removesuffix(".")
    except ValueError:
        raise InvalidDomain(text) from None
    if not written or len(written) > HOST_MAX or written.startswith(".") or ".." in written:
        raise InvalidDomain(text)
    return written, port


def _spellings(name: str, port: str) -> Iterator[str]:
    """Every entry that holds for this host."""
    ports = ("", *((port,) if port else DEFAULT_PORTS))
    labels = name.split(".")
    names = [name, *([name[4:]] if name.startswith("www.") else [])]
    names += ["*." + ".".join(labels[at:]) for at in range(1, len(labels))]
    for spelling in names:
        for held in ports:
            yield f"{spelling}:{held}" if held else spelling
