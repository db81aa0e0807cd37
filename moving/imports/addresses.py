"""The page that a foreign address means, after the replacements of `--map OLD=NEW`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from messaging.page_ids import InvalidUrl, NormalizedUrl, normalize
from moving.exceptions import InvalidMap

SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
# With a host: a parser of URLs would take the first segment of the path for one.
WEB = re.compile(r"https?://[^/\\?#]", re.IGNORECASE)
CACHED = 10_000
# What may follow a prefix that names a host or the segments of a path.
ENDS = ("", "/", "?", "#", ":")


class Replacement(NamedTuple):
    old: str
    new: str


class Pages:
    """Finds the pages of the addresses of one file. Raises InvalidMap for a replacement that cannot be used."""

    def __init__(self, maps: Sequence[str]) -> None:
        # The longest first, so that a part of a site may go elsewhere.
        self._replacements = sorted(map(_replacement, maps), key=lambda each: -len(each.old))
        self.find = lru_cache(CACHED)(self._find)

    def _find(self, address: str) -> NormalizedUrl | str:
        """The page, or the reason why the address has none, as one sentence."""
        url = self._replaced(address.strip())
        if not WEB.match(url):
            return "The address names no page on the web: give it a host with --map /=https://site.example/."
        try:
            return normalize(url)
        except InvalidUrl as failure:
            return f"The address cannot be used: {failure}."

    def _replaced(self, address: str) -> str:
        bare = _bare(address)
        for old, new in self._replacements:
            rest = bare[len(old) :]
            if _lower_host(bare).startswith(old) and (old.endswith("/") or rest.startswith(ENDS[1:]) or not rest):
                return new + (rest.lstrip("/") if new.endswith("/") else rest)
        return address


def _bare(address: str) -> str:
    """Without its scheme and `www.`."""
    without_scheme = SCHEME.sub("", address, count=1)
    return without_scheme[4:] if without_scheme[:4].lower() == "www." else without_scheme


def _lower_host(bare: str) -> str:
    host, slash, path = bare.partition("/")
    return host.lower() + slash + path


def _replacement(text: str) -> Replacement:
    old, equals, new = text.partition("=")
    old, new = _lower_host(_bare(old.strip())), new.strip()
    if not old or not equals or not new:
        raise InvalidMap(text[:100], field="map")
    new = new if SCHEME.match(new) else f"https://{new}"
    try:
        normalize(new)
    except InvalidUrl:
        raise InvalidMap(text[:100], field="map") from None
    return Replacement(old, new)
