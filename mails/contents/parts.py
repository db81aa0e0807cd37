from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from mails.models import Notice
from messaging.markdown.html import to_html, to_plain

# Of a post in a mail; a link leads to the whole.
POST_MAX = 1_200
NAME_MAX = 60


@dataclass(frozen=True, slots=True)
class Quote:
    """The text of a post."""

    text: str
    html: SafeString

    @classmethod
    def of(cls, content: str) -> Quote:
        source = content if len(content) <= POST_MAX else f"{content[:POST_MAX].rstrip()}…"
        # `to_html` escapes every text and attribute.
        return cls(to_plain(source), mark_safe(to_html(source)))  # noqa: S308  # nosec B308 B703


@dataclass(frozen=True, slots=True)
class Item:
    """One event: a sentence, the text that it is about, further lines, and a link with its label."""

    sentence: str
    url: str
    label: str
    quote: Quote | None = None
    details: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Content:
    """`subject` is for one item or several; `reason` says why the person gets the mail.

    `page_id`: the page that all of it is about; empty if there are several, or none.
    """

    subject: str
    reason: str
    items: Sequence[Item]
    page_id: str = ""


def one_line(text: str, size: int = NAME_MAX) -> str:
    """A text of others for a sentence or a header: without line breaks, and not longer than `size`."""
    words = " ".join(text.split())
    return words if len(words) <= size else f"{words[: size - 1].rstrip()}…"


def ids_in(notices: Iterable[Notice], name: str) -> set[str]:
    """The ids that the data of notices have by this name."""
    return {str(notice.data[name]) for notice in notices if notice.data and name in notice.data}
