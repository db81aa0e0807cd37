from __future__ import annotations

import re
from base64 import b32encode
from hashlib import sha256
from typing import NamedTuple

from messaging.pages.page_ids.reading import InvalidUrl, Reading
from messaging.pages.page_ids.rules import Rule

URL_MAX = 2_048

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
PAGE_ID = re.compile(r"p1_[a-z2-7]{32}\Z")
_HASH_BYTES = 20


class NormalizedUrl(NamedTuple):
    """`rules_applied` is in the order of `Rule`; `removed_params` are percent-encoded names without duplicates."""

    page_id: str
    normalized_url: str
    rules_applied: tuple[str, ...]
    removed_params: tuple[str, ...]


def is_page_id(text: str) -> bool:
    """Whether `text` has the form of a page id; the page may not exist."""
    return PAGE_ID.match(text) is not None


def normalize(url: str) -> NormalizedUrl:
    """Normalise a URL; raises no error but `InvalidUrl`."""
    if len(url) > URL_MAX:
        raise InvalidUrl(f"longer than {URL_MAX} characters")
    if _CONTROL.search(url):
        raise InvalidUrl("control characters")
    reading = Reading()
    # Repeated, because a host without its trailing dots may parse as an address: `0x7f.1..`, then `127.0.0.1`.
    while (normalized := reading.read(url)) != url:
        url = normalized
    if len(normalized) > URL_MAX:
        raise InvalidUrl(f"normalised, longer than {URL_MAX} characters")
    rules = tuple(rule.value for rule in Rule if rule in reading.rules)
    return NormalizedUrl(_page_id(normalized), normalized, rules, tuple(reading.removed))


def _page_id(normalized_url: str) -> str:
    digest = sha256(normalized_url.encode()).digest()[:_HASH_BYTES]
    return "p1_" + b32encode(digest).decode().lower()
