"""Links that go through the server of the foreign system, which counts who follows them: their targets."""

from __future__ import annotations

import re
from html import escape, unescape
from urllib.parse import parse_qs

from messaging.markdown.addresses import TRAILING, safe_url

# Disqus has them for links and for images.
DETOUR = re.compile(
    r"https?://(?:disq\.us/url|(?:redirect\.|www\.)?disqus\.com/url|c\.disquscdn\.com/get)/?\?[^\s<>\"'()\[\]`\\^{|}]+",
    re.IGNORECASE,
)
# Disqus signs the address that it leads to.
SIGNATURE = re.compile(r":[\w-]{10,}\Z", re.ASCII)
LONGEST = 8_192
# A link that was copied from a comment may lead to another one.
MOST = 3


def without_detours(text: str, *, is_html: bool = False) -> str:
    """The text, Markdown or HTML, in which each such address is that of its target, if this is one of the web."""
    return DETOUR.sub(lambda match: _target(match[0], is_html), text) if "disq" in text else text


def _target(found: str, is_html: bool) -> str:
    address = found.rstrip(TRAILING)
    target = unescape(address)
    for _ in range(MOST):
        match = DETOUR.fullmatch(target)
        values = parse_qs(target.partition("?")[2]).get("url") if match and len(target) <= LONGEST else None
        if not values:
            break
        target = SIGNATURE.sub("", values[0])
    href = safe_url(target)
    if not href.startswith("http") or DETOUR.match(href):
        return found
    # Links of Markdown end at a bracket.
    shown = escape(href) if is_html else href.replace("(", "%28").replace(")", "%29")
    return shown + found[len(address) :]
