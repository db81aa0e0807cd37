"""The beginning of a post without its marks, for titles and previews."""

from __future__ import annotations

from messaging.markdown.html import to_plain

TITLE_MAX = 80
# As much of a text as an excerpt may need, also if it begins with blank lines.
SOURCE_MAX = 1_000


def excerpt(text: str, size: int) -> str:
    """The first words of a text on one line, at most `size` characters."""
    return shortened(to_plain(text[: SOURCE_MAX + size]), size)


def shortened(plain: str, size: int) -> str:
    """The first words of a text without marks on one line, at most `size` characters."""
    words = " ".join(plain[: SOURCE_MAX + size].split())
    return words if len(words) <= size else f"{words[: size - 1].rstrip()}…"


def title_of(plain: str, *, author: str, is_reply: bool) -> str:
    """The first characters of a text without marks; a post may have none, only a smart tag or attachments."""
    return shortened(plain, TITLE_MAX) or f"{'Reply' if is_reply else 'Post'} by {author}"
