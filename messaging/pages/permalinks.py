"""The addresses of a post: its permalink, and its place on the page that it belongs to."""

from __future__ import annotations

from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings

PERMALINKS = "/p/"
# The statements of messages build the address: Python would take twice as long to write an id as text.
PERMALINK_COLUMN = f"'{settings.BASE_URL}{PERMALINKS}' || m.id AS url"


def permalink(message_id: UUID) -> str:
    """The address of a post, which shows its thread and may lead to its page."""
    return f"{settings.BASE_URL}{PERMALINKS}{message_id}"


def anchor_of(message_id: UUID) -> str:
    """The id of the element of a post in a document that shows it."""
    return f"community-post-{message_id}"


def place_on_page(page_url: str, message_id: UUID, origin: str | None = None) -> str:
    """The address of a post on its page. A URL has one fragment: where it selects the page (`#!/…`), it stays.

    `origin`: where its site is. The normalised URL is https and without `www.`, which not every site answers.
    """
    if origin is not None:
        parts = urlsplit(page_url)
        page_url = origin + page_url.removeprefix(f"{parts.scheme}://{parts.netloc}")
    return page_url if "#" in page_url else f"{page_url}#{anchor_of(message_id)}"
