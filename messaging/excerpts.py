"""The beginning of a post without its marks, for titles and previews."""

from __future__ import annotations

from messaging.markdown.html import to_plain

TITLE_MAX = 80
# As much of a text as an excerpt may need, also if it begins with blank lines.
SOURCE_MAX = 1_000


def excerpt(text: str, size: int) -> str:
    """The first words of a text on one line, at most `size` characters."""
    words = " ".join(to_plain(text[: SOURCE_MAX + size]).split())
    return words if len(words) <= size else f"{words[: size - 1].rstrip()}…"


def title_of(content: str, *, author: str, is_reply: bool) -> str:
    """The first characters of the text; a post may have none, only a smart tag or attachments."""
    return excerpt(content, TITLE_MAX) or f"{'Reply' if is_reply else 'Post'} by {author}"
