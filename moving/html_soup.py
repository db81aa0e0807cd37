"""Parses HTML of comments into a tree of bounded depth, in linear time."""

from __future__ import annotations

import re
from typing import Any

from bs4 import BeautifulSoup

# Deeper elements are left out, their texts stay.
DEPTH_MAX = 30
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# Their content is not text for readers.
HIDDEN = ("script", "style", "iframe", "object", "embed", "template", "noscript", "svg", "math", "textarea", "title")
HIDDEN_CONTENT = re.compile(rf"<({'|'.join(HIDDEN)})\b[^>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)


class _Soup(BeautifulSoup):
    def handle_starttag(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return super().handle_starttag(name, *args, **kwargs) if len(self.tagStack) < DEPTH_MAX else None


def soup_of(html: str) -> BeautifulSoup:
    """Raises ParserRejectedMarkup and AssertionError for what the parser refuses."""
    html = HIDDEN_CONTENT.sub("", COMMENT.sub("", html))
    # After the last ">" no tag ends: the parser would look for its end from each "<".
    end = html.rfind(">") + 1
    return _Soup(html[:end] + html[end:].replace("<", "&lt;"), "html.parser")
