"""Decimal character references of HTML, such as `&#8230;`."""

from __future__ import annotations

import re

# `html.unescape`, which parsers of HTML use for values too, converts the digits with `int`: beyond 4,300, a ValueError.
_TOO_LONG = re.compile(r"&#[0-9]{1000,}")
_NO_CHARACTER = "&#0"


def without_long_references(html: str) -> str:
    """Shorten references that are too long for Python. They stand for no character, before and after."""
    return _TOO_LONG.sub(_NO_CHARACTER, html)
