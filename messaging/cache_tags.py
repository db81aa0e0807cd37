"""The cache tags of responses about messages."""

from __future__ import annotations

from uuid import UUID

from config.cache.versions import invalidate


def page_tag(page_id: str) -> str:
    """The tag of every list of a page's messages."""
    return f"page:{page_id}"


def message_tag(message_id: UUID) -> str:
    """The tag of one message with its counts, and of its reactions."""
    return f"message:{message_id}"


def invalidate_message(*, page_id: str, message_id: UUID) -> None:
    """Invalidate all responses that contain a message or its counts."""
    invalidate(page_tag(page_id), message_tag(message_id))
