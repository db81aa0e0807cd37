"""Parses HTML of comments into a tree of bounded depth, in linear time."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

from bs4 import BeautifulSoup

# Deeper elements are left out, their texts stay.
DEPTH_MAX = 30
TAG_OR_REFERENCE = re.compile(r"<[^<>]*>|&(?:#[0-9a-zA-Z]*|[^\s<>&;#]{0,32});?")


class _Soup(BeautifulSoup):
    def handle_starttag(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return super().handle_starttag(name, *args, **kwargs) if len(self.tagStack) < DEPTH_MAX else None


def soup_of(html: str) -> BeautifulSoup:
    """Raises ParserRejectedMarkup and AssertionError for what the parser refuses."""
    # The parser would look for the end of a comment or a tag from each begin of one that does not end.
    html = _without_begins(_without_begins(html, "<!--", "-->"), "<", ">")
    return _Soup(TAG_OR_REFERENCE.sub(_complete, html), "html.parser")


def _without_begins(html: str, begin: str, end: str) -> str:
    """The text in which begins after the last end are escaped."""
    last = html.rfind(end) + 1
    return html[:last] + html[last:].replace(begin, f"&lt;{begin[1:]}")


def _complete(match: re.Match[str]) -> str:
    """A tag as it is, a reference as its character: of incomplete references, the parser loses some characters."""
    return match[0] if match[0].startswith("<") else escape(unescape(match[0]))
