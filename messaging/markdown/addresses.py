"""Which addresses are links. static/embed/markdown/addresses.js decides the same."""

from __future__ import annotations

import re

from ada_url import URL

URL_MAX = 2048
# No control, space, direction mark, quote, bracket, or punctuation of Chinese and Japanese.
BARE = re.compile(
    r"https?://[^\x00-\x20\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000-\u303f\ufeff\uff00-\uffef"
    r'<>"`\\^{|}[\]]+',
    re.IGNORECASE | re.ASCII,
)
TRAILING = ".,;:!?'*_~\u2019\u201d\u2026\u00bb"
# Browsers differ in what they accept as a host.
SAFE = re.compile(r"https?://[a-z0-9._:@\[\]\u00a1-\U0010ffff-]+(?:[/?#]|\Z)|mailto:[^?#]+@", re.IGNORECASE | re.ASCII)
SCHEME = re.compile(r"\A(?:https?://|mailto:)")


def bare_url(text: str, start: int, end: int) -> str:
    """The URL that begins there, without the punctuation of its sentence; "" if there is none, or a longer one than
    URL_MAX. A text may have thousands of addresses in one: each is read to this length only.
    """
    match = BARE.match(text, start, min(end, start + URL_MAX + 1))
    found = match[0] if match else ""
    return "" if _is_long(found) else found[: _end_of(found)]


def _end_of(found: str) -> int:
    unopened = found.count(")") - found.count("(")
    end = len(found)
    while end:
        last = found[end - 1]
        if last == ")" and unopened > 0:
            unopened -= 1
        elif last not in TRAILING:
            break
        end -= 1
    return end


def _is_long(text: str) -> bool:
    """Browsers count a character beyond U+FFFF as two."""
    return len(text.encode("utf-16-le", "replace")) > 2 * URL_MAX


def safe_url(text: str) -> str:
    """The normal form of a web or mail address; "" for any other."""
    if not SAFE.match(text) or _is_long(text):
        return ""
    try:
        href = URL(text).href
    except ValueError:
        return ""
    return "" if len(href) > URL_MAX else href


def hidden_host(href: str, text: str) -> str:
    """The host of a link if its text does not begin with it, else ""."""
    url = URL(href)
    target = url.host or url.pathname
    shown = SCHEME.sub("", text.strip().lower())
    is_shown = shown.startswith(target.lower()) and shown[len(target) : len(target) + 1] in {"", "/", "?", "#", ":"}
    return "" if is_shown else target
