"""Parses HTML of comments into a tree of bounded depth, in linear time."""

from __future__ import annotations

import re
from typing import Any

from bs4 import BeautifulSoup

# Deeper elements are left out, their texts stay.
DEPTH_MAX = 30
# Begins of a character reference without a number: the parser would take all that follows for text.
NO_REFERENCE = re.compile("&#(?![0-9]|[xX][0-9a-fA-F])")


class _Soup(BeautifulSoup):
    def handle_starttag(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return super().handle_starttag(name, *args, **kwargs) if len(self.tagStack) < DEPTH_MAX else None


def soup_of(html: str) -> BeautifulSoup:
    """Raises ParserRejectedMarkup and AssertionError for what the parser refuses."""
    # The parser would look for the end of a comment or a tag from each begin of one that does not end.
    html = _without_begins(_without_begins(html, "<!--", "-->"), "<", ">")
    return _Soup(NO_REFERENCE.sub("&amp;#", html), "html.parser")


def _without_begins(html: str, begin: str, end: str) -> str:
    """The text in which begins after the last end are escaped."""
    last = html.rfind(end) + 1
    return html[:last] + html[last:].replace(begin, f"&lt;{begin[1:]}")
