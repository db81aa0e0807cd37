"""Domain lists: the syntax of entries, and whether a host matches them.

An entry is a host with an optional port. `example.com` matches itself and `www.example.com`; `*.example.com` matches
every subdomain but not the apex; an entry without a port matches every port. Names are normalised as browsers do
(lower case, IDNA in ASCII) and compared label by label from the right, never as a substring.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple

from ada_url import URL

ENTRY_MAX = 300
HOST_MAX = 253
# Characters that a browser skips, decodes, or parses as the start of another part of a URL.
NO_HOST = re.compile(r"[\s\x00-\x20\x7f/?#@\\%*]|:\Z")
# A stored entry: no character ends a source, a directive or a policy of a Content-Security-Policy.
ENTRY = re.compile(r"(?:(?:\*\.)?[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?\Z")
PORT = re.compile(r":([0-9]{1,5})\Z", re.ASCII)
PORT_MAX = 65_535
DEFAULT_PORTS = ("80", "443")
OPAQUE = "null"


class InvalidDomain(ValueError):
    """Not a host with an optional port."""


class DomainVerdict(NamedTuple):
    """Whether a widget may run on a host, and the entry that decides. None: no entry of the whitelist matches."""

    is_allowed: bool
    entry: str | None = None


def normalize_entry(text: str) -> str:
    """Return the canonical form of an entry, in which entries are stored and compared; raises InvalidDomain."""
    wildcard = "*." if text.startswith("*.") else ""
    name, port = _split(text.removeprefix("*."))
    entry = wildcard + name + (f":{port}" if port else "")
    if not is_entry(entry):
        raise InvalidDomain(text)
    return entry


def is_entry(text: str) -> bool:
    """Whether `text` has the syntax of a stored entry; rows of earlier releases may not."""
    return ENTRY.match(text) is not None


def is_host(text: str) -> bool:
    """Whether `text` is one host in canonical form, with its port unless that is the default."""
    try:
        return text != OPAQUE and "*" not in text and normalize_entry(text) == text
    except InvalidDomain:
        return False


def is_allowed(host: str, *, whitelist: Collection[str], blacklist: Collection[str]) -> bool:
    """Whether a widget may run on `host` (with its port unless that is the default). Entries must be normalised.

    An empty whitelist allows any host; the blacklist overrides the whitelist. Text that is not a host, such as an
    opaque origin, matches no entry: it is allowed only if the whitelist is empty.
    """
    try:
        name, port = _split(host)
    except InvalidDomain:
        return not whitelist
    if name == OPAQUE:
        return not whitelist
    entries = set(_matching_entries(name, port))
    return entries.isdisjoint(blacklist) and (not whitelist or not entries.isdisjoint(whitelist))


def explain(host: str, *, whitelist: Collection[str], blacklist: Collection[str]) -> DomainVerdict:
    """Decide as `is_allowed`, and name the entry that decides."""
    allowed = is_allowed(host, whitelist=whitelist, blacklist=blacklist)
    try:
        name, port = _split(host)
    except InvalidDomain:
        return DomainVerdict(allowed)
    entries = set(_matching_entries(name, port)) if name != OPAQUE else set()
    deciding = (entry for entry in (whitelist if allowed else blacklist) if entry in entries)
    return DomainVerdict(allowed, next(deciding, None))


def entries_of(host: str) -> list[str]:
    """Every entry that matches a host; none for text that is not a host, such as an opaque origin."""
    try:
        name, port = _split(host)
    except InvalidDomain:
        return []
    return [] if name == OPAQUE else list(_matching_entries(name, port))


def bare_host(host: str) -> str:
    """Return the name of a host without its port and without `www.`, as page URLs have it; raises InvalidDomain."""
    name, _port = _split(host)
    return _without_www(name)


def spellings(host: str, whitelist: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the entries that name the host of a normalised URL, and the host and port that each spells.

    Such a URL has neither `www.` nor a default port, so an entry with `www.` names it too. An entry without a port does
    not name other ports: what is served there may belong to others. `*.example.com` spells the host of the URL itself,
    and comes after the entries that spell one.
    """
    naming = naming_entries(host)
    entries = [entry for entry in whitelist if entry in naming]
    yield from ((entry, entry) for entry in entries if not entry.startswith("*."))
    yield from ((entry, host) for entry in entries if entry.startswith("*."))


def naming_entries(host: str) -> set[str]:
    """Return every entry that `spellings` may yield for this host."""
    try:
        name, port = _split(host)
    except InvalidDomain:
        return set()
    labels = name.split(".")
    names = [name, f"www.{name}", *("*." + ".".join(labels[at:]) for at in range(1, len(labels)))]
    ports = [f":{port}"] if port else ["", *(f":{port}" for port in DEFAULT_PORTS)]
    return {name + port for name in names for port in ports}


def is_loopback(host: str) -> bool:
    """Whether a host in canonical form is the reader's own machine."""
    name, _port = _split(host)
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def host_of_origin(origin: str) -> str:
    """Return the host of an Origin header; `null` unless the scheme is http or https."""
    scheme, separator, host = origin.partition("://")
    return host if separator and scheme.lower() in ("http", "https") else OPAQUE


def host_of_url(url: str) -> str:
    """Return the host of a page's address; `null` without one."""
    try:
        return URL(url).host or OPAQUE
    except ValueError:
        return OPAQUE


@lru_cache(maxsize=1_024)
def entries_of_page(url: str) -> tuple[str, ...]:
    """Every entry that names the host of a page, with `www.` or without: its normalised address has none.

    None for a host that no entry can name, such as `a*b.example`, which browsers take.
    """
    try:
        name, port = _split(host_of_url(url))
    except InvalidDomain:
        return ()
    return () if name == OPAQUE else tuple(_matching_entries(f"www.{name.removeprefix('www.')}", port))


def _split(text: str) -> tuple[str, str]:
    """Return (name, port or "") in canonical form; raises InvalidDomain."""
    match = PORT.search(text)
    name = text[: match.start()] if match else text
    port = match.group(1).lstrip("0") if match else ""
    if len(text) > ENTRY_MAX or NO_HOST.search(name) or (match and not 0 < int(port or 0) <= PORT_MAX):
        raise InvalidDomain(text)
    try:
        hostname = URL(f"https://{name}").hostname.removesuffix(".")
    except ValueError:
        raise InvalidDomain(text) from None
    if not hostname or len(hostname) > HOST_MAX or hostname.startswith(".") or ".." in hostname:
        raise InvalidDomain(text)
    return hostname, port


def _without_www(name: str) -> str:
    while name.startswith("www.") and "." in name[4:]:
        name = name[4:]
    return name


def _matching_entries(name: str, port: str) -> Iterator[str]:
    """Yield every entry that matches this host."""
    ports = ("", *((port,) if port else DEFAULT_PORTS))
    labels = name.split(".")
    names = [name, *([name[4:]] if name.startswith("www.") else [])]
    names += ["*." + ".".join(labels[at:]) for at in range(1, len(labels))]
    for entry_name in names:
        for entry_port in ports:
            yield f"{entry_name}:{entry_port}" if entry_port else entry_name
