"""What answers about posts depend on, for `config.api.freshness`."""

from __future__ import annotations

from uuid import UUID

from config.api.freshness import touch


def page_subject(page_id: str) -> str:
    """Every list of a page's posts and replies."""
    return f"page:{page_id}"


def message_subject(message_id: UUID) -> str:
    """One post with its counts, and its reactions."""
    return f"message:{message_id}"


def touch_message(*, page_id: str, message_id: UUID) -> None:
    """A post has changed, or what is counted on it."""
    touch(page_subject(page_id), message_subject(message_id))
