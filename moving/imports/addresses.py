"""The page that a foreign address or identifier means, after the replacements of `--map OLD=NEW`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from messaging.pages.page_ids import InvalidUrl, NormalizedUrl, normalize
from moving.exceptions import InvalidMap

SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
# With a host: a parser of URLs would take the first segment of the path for one.
WEB = re.compile(r"https?://[^/\\?#]", re.IGNORECASE)
DIVIDES = re.compile(r"=(?=\s*https?://)", re.IGNORECASE)
CACHED = 10_000
# What may follow a prefix that names a host or the segments of a path.
ENDS = ("", "/", "?", "#", ":")


EXAMPLE = "https://site.example/page"
NO_HOST = "The address names no page on the web: give it a host with --map /=https://site.example/."
# Longer names are no identifiers, and cells of the report are cut.
NAMED_MAX = 300


class Replacement(NamedTuple):
    old: str
    new: str


class Pages:
    """Finds the pages of the addresses of one file. Raises InvalidMap for a replacement that cannot be used.

    `pairs` are the rows of a file of replacements, which `map_files` has checked: there may be as many as pages.
    """

    def __init__(self, maps: Sequence[str], pairs: Iterable[Replacement] = ()) -> None:
        self._whole = {one_line(old): new for old, new in pairs}
        self._whole |= {one_line(old): _checked(old, new) for old, new in map(split, maps)}
        self._begins = {_lower_host(_bare(old)): new for old, new in self._whole.items()}
        self._begins.pop("", None)
        # The longest first, so that a part of a site may go elsewhere.
        self._lengths = sorted({len(old) for old in self._begins}, reverse=True)
        self.find = lru_cache(CACHED)(self._find)

    def _find(self, address: str, identifier: str = "", title: str = "") -> NormalizedUrl | str:
        """The page, or the reason why there is none, as one sentence. `identifier` and `title` are of the thread."""
        identifier = one_line(identifier)
        url = self._whole.get(identifier or one_line(address)) or self._replaced(address.strip())
        if not WEB.match(url):
            url = self._replaced(identifier, is_address=False) or url
        if not WEB.match(url):
            return _reason(address.strip(), identifier, title)
        try:
            return normalize(url)
        except InvalidUrl as failure:
            return f"The address cannot be used: {failure}."

    def _replaced(self, address: str, *, is_address: bool = True) -> str:
        """An identifier that looks like an address is none by itself: readers may never have seen it."""
        bare = _bare(address)
        lower = _lower_host(bare)
        for length in self._lengths:
            old, rest = lower[:length], bare[length:]
            if old in self._begins and (old.endswith("/") or rest.startswith(ENDS[1:]) or not rest):
                new = self._begins[old]
                return new + (rest.lstrip("/") if new.endswith("/") else rest)
        return address if is_address else ""


def one_line(text: str) -> str:
    """The text as a cell of the report has it."""
    return " ".join(text.split())


def split(text: str) -> Replacement:
    """OLD and NEW. An identifier may have `=` in it, so the one before a web address divides them."""
    divided = DIVIDES.search(text)
    old, new = (text[: divided.start()], text[divided.end() :]) if divided else text.partition("=")[::2]
    return Replacement(old.strip(), new.strip())


def _reason(address: str, identifier: str, title: str) -> str:
    """What it advises brings the thread in: `tests/moving/imports/test_threads.py` does so."""
    if address.startswith("/"):
        return NO_HOST
    name = identifier or one_line(address)
    thread = f'The thread "{one_line(title)}"' if title else "The thread"
    if not name:
        return f"{thread} has neither an address nor an identifier."
    if len(name) > NAMED_MAX:
        return f"{thread} has no address on the web."
    suggestion = f"{name}={EXAMPLE}"
    how = f"--map {shlex.quote(suggestion)} or a row" if split(suggestion).old == name else "a row"
    return f"{thread} has no address. Give its identifier, {name}, one with {how} of --map-file."


def _bare(address: str) -> str:
    """Without its scheme and `www.`."""
    without_scheme = SCHEME.sub("", address, count=1)
    return without_scheme[4:] if without_scheme[:4].lower() == "www." else without_scheme


def _lower_host(bare: str) -> str:
    host, slash, path = bare.partition("/")
    return host.lower() + slash + path


def usable(new: str) -> str:
    """The new address with its scheme. Raises InvalidUrl."""
    new = new if SCHEME.match(new) else f"https://{new}"
    if not WEB.match(new):
        raise InvalidUrl("it has no host")
    normalize(new)
    return new


def _checked(old: str, new: str) -> str:
    """Raises InvalidMap."""
    try:
        if old and new:
            return usable(new)
    except InvalidUrl:
        pass
    raise InvalidMap(f"{old}={new}"[:100], field="map")
