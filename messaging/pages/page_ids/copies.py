"""Copies of pages that other services make: a translation, an archived version, a page with notes.

The address of such a copy contains that of the page. What is no such address stays as it is: an overview of versions,
a copy without `http`, a copy of something else than a page.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs

from ada_url import parse_url
from ada_url.ada_adapter import ParseAttributes

from messaging.pages.page_ids.rules import Rule

# Longer names do not fit into a DNS message.
HOST_MAX = 253

_TRANSLATED = ".translate.goog"
# What is before the address of the page, by host. Slashes in an address may be collapsed.
_PREFIXES = {
    "web.archive.org": (Rule.UNWRAP_ARCHIVE, re.compile(r"/web/(?:[0-9]{1,14}(?:[a-z]{2}_)?/)?")),
    "via.hypothes.is": (Rule.UNWRAP_NOTES, re.compile("/")),
    "viahtml.hypothes.is": (Rule.UNWRAP_NOTES, re.compile("/proxy/")),
}
_ADDRESS = re.compile(r"(https?):/+(?=[^/])", re.IGNORECASE)
_DOT = re.compile(r"\b-\b")
_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")


def original(parts: ParseAttributes) -> tuple[Rule, str] | None:
    """The address of the page of which this parsed address is a copy, with the rule that found it."""
    host = parts["hostname"].rstrip(".")
    if parts["port"]:
        return None
    if host.endswith(_TRANSLATED):
        rule, url = Rule.UNWRAP_TRANSLATION, _translated(host, parts)
    elif host in _PREFIXES:
        rule, prefix = _PREFIXES[host]
        url = _after(prefix, parts["pathname"])
    else:
        return None
    return (rule, url + parts["search"] + parts["hash"]) if _has_host(url) else None


def _after(prefix: re.Pattern[str], path: str) -> str:
    start = prefix.match(path)
    address = start and _ADDRESS.match(path, start.end())
    return f"{address[1]}://{path[address.end() :]}" if address else ""


def _translated(host: str, parts: ParseAttributes) -> str:
    """The steps of https://developers.google.com/search/docs/appearance/ad-network-and-translation."""
    sent = parse_qs(parts["search"][1:])
    encodings = sent.get("_x_tr_enc", [""])[0].split(",")
    name = sent.get("_x_tr_hp", [""])[0] + host.removesuffix(_TRANSLATED)
    if "1" in encodings:
        name = name.removeprefix("1-")
    is_international = "0" in encodings and name.startswith("0-")
    if is_international:
        name = name.removeprefix("0-")
    name = _DOT.sub(".", name).replace("--", "-")
    name = f"xn--{name}" if is_international else name
    return f"https://{name}{parts['pathname']}" if _HOST.fullmatch(name) else ""


def _has_host(url: str) -> bool:
    try:
        host = parse_url(url, ("hostname",))["hostname"].rstrip(".")
    except ValueError:
        return False
    return 0 < len(host) <= HOST_MAX
