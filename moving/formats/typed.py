"""Values as people have typed them, and numbers and times that programs store in several types."""

from __future__ import annotations

import re
from datetime import datetime

from moving.formats.records import Author, author_of, clean, score_of, time_of, time_of_seconds
from moving.html_to_markdown import html_to_markdown

HTML = re.compile(r"\s*<(?:p|div|blockquote|ul|ol|pre|h[1-6]|table|a|em|strong|b|i|br|img|span|code)\b", re.IGNORECASE)
CLOSED = re.compile(r"</(?:p|a|em|strong|b|i|code|blockquote|ul|ol|li|pre|del)>", re.IGNORECASE)
WHOLE = re.compile(r"-?[0-9]{1,10}")
# What Waline and Twikoo call a writer without a name.
ANONYMOUS = "匿名"


def typed_or_html(text: str) -> str:
    """The Markdown of a text. What begins with an element and closes one is HTML, from an import into that program."""
    return html_to_markdown(text, has_line_breaks=True) if HTML.match(text) and CLOSED.search(text) else text


def writer_of(name: object, email: object, *, user_id: str = "") -> Author:
    """`user_id`: of a person who had signed in."""
    name = clean(name).strip()
    source_id = f"user:{user_id}" if user_id else ""
    return author_of(source_id=source_id, name="" if name == ANONYMOUS else name, email=clean(email))


def whole(value: object) -> int | None:
    """A number, also one that is stored as text."""
    return score_of(int(value) if isinstance(value, str) and WHOLE.fullmatch(value) else value)


def time_of_any(value: object) -> datetime | None:
    """A time in milliseconds since 1970, or in ISO 8601: of UTC where it names no zone."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return time_of_seconds(value / 1000)
    return time_of(value)
