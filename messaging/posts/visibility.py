"""The conditions for posts that the public API returns, as SQL about a row of messages.

The conditions of the indexes are the same (see the model).
"""

from __future__ import annotations


def is_public(alias: str) -> str:
    """Published, and no post that it answers, directly or not, is hidden or pending."""
    return f"{alias}.status = 'published' AND NOT {alias}.in_hidden_thread"


def is_listed(alias: str) -> str:
    """Published, or a tombstone. Its thread is not checked: that of all replies to a post is the post's."""
    return f"({alias}.status = 'published' OR {alias}.is_tombstone)"


def is_visible(alias: str) -> str:
    """Public, or a tombstone in a public thread."""
    return f"{is_listed(alias)} AND NOT {alias}.in_hidden_thread"
