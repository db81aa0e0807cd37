"""Page rules: the paths of a site on which a widget shows. `*` matches any run of characters, also `/` and none.

The loader applies the same rules in the browser; the tests of both use the cases in `tests/embeds/data`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

NOT_ENCODED = re.compile(r"%(?![0-9A-Fa-f]{2})")


class PathVerdict(NamedTuple):
    """Whether the widget shows on a path, and the first pattern that matches it; `number` counts from 1."""

    is_shown: bool
    pattern: str | None = None
    number: int | None = None


def matches(pattern: str, path: str) -> bool:
    """Whether the pattern matches the whole path.

    The first and the last piece between stars are anchored; each piece between them is searched from the end of the
    previous match. There is no backtracking, so no pattern is slow.
    """
    first, *pieces = pattern.split("*")
    if not pieces:
        return pattern == path
    last = pieces.pop()
    at, end = len(first), len(path) - len(last)
    if at > end or not path.startswith(first) or not path.endswith(last):
        return False
    for piece in pieces:
        start = path.find(piece, at, end)
        if start < 0:
            return False
        at = start + len(piece)
    return True


def explain(rules: Mapping[str, Any], path: str) -> PathVerdict:
    """Whether page rules (`{"type", "patterns"}`) show the widget on a percent-encoded path, and why."""
    if rules["type"] == "all":
        return PathVerdict(is_shown=True)
    decoded = _decode(path)
    for number, pattern in enumerate(rules["patterns"], start=1):
        if matches(pattern, path) or matches(pattern, decoded):
            return PathVerdict(rules["type"] == "patterns", pattern, number)
    return PathVerdict(is_shown=rules["type"] != "patterns")


def _decode(path: str) -> str:
    """Decode a percent-encoded path; return it unchanged if it is not percent-encoded UTF-8."""
    if NOT_ENCODED.search(path):
        return path
    try:
        return unquote(path, errors="strict")
    except UnicodeDecodeError:
        return path
