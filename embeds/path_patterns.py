"""On which paths of a site a widget shows. `*` stands for any run of characters, slashes included, empty ones too.

The loader decides in the browser by the same rules; both run the cases in `tests/embeds/data`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

NOT_ENCODED = re.compile(r"%(?![0-9A-Fa-f]{2})")


def matches(pattern: str, path: str) -> bool:
    """Whether the whole path is one that the pattern describes.

    The first and the last piece between stars are anchored; each piece between them is found as far left as it can be,
    so nothing is ever tried twice and no pattern is slow.
    """
    first, *pieces = pattern.split("*")
    if not pieces:
        return pattern == path
    last = pieces.pop()
    at, end = len(first), len(path) - len(last)
    if at > end or not path.startswith(first) or not path.endswith(last):
        return False
    for piece in pieces:
        found = path.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def shows_on(rules: Mapping[str, Any], path: str) -> bool:
    """Whether page rules (`{"type", "patterns"}`) show the widget on a path, percent-encoded as in the address."""
    if rules["type"] == "all":
        return True
    readable = _decoded(path)
    hit = any(matches(pattern, path) or matches(pattern, readable) for pattern in rules["patterns"])
    return hit is (rules["type"] == "patterns")


def _decoded(path: str) -> str:
    """The path as people write it; what is not percent-encoded UTF-8 is left alone."""
    if NOT_ENCODED.search(path):
        return path
    try:
        return unquote(path, errors="strict")
    except UnicodeDecodeError:
        return path
