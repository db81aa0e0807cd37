"""The cache tags of responses about messages."""

from __future__ import annotations

from uuid import UUID

from kernel.cache.versions import invalidate

# The tag of every list of communities: their names, rules and numbers of posts.
COMMUNITIES = "communities"
# The tag of what embeds show: posts that a community has hidden on its pages or pinned, and bans.
SHOWN = "shown"


def page_tag(page_id: str) -> str:
    """The tag of every list of a page's messages."""
    return f"page:{page_id}"


def embed_tag(embed_id: UUID) -> str:
    """The tag of the public configuration of one embed, and of what it shows."""
    return f"embed:{embed_id}"


def message_tag(message_id: UUID) -> str:
    """The tag of one message with its counts, and of its reactions."""
    return f"message:{message_id}"


def community_tag(community_id: UUID) -> str:
    """The tag of a community, and of its feeds: its name, its posts and the addresses of their pages.

    It is not invalidated by the counts of a post.
    """
    return f"community:{community_id}"


def invalidate_message(*, page_id: str, message_id: UUID, community_id: UUID | None = None) -> None:
    """Invalidate all responses that contain a message or its counts; `community_id`: those of its community as well."""
    in_community = [] if community_id is None else [community_tag(community_id), COMMUNITIES]
    invalidate(page_tag(page_id), message_tag(message_id), *in_community)


def invalidate_community(community_id: UUID) -> None:
    """Invalidate all responses that contain the name or the rules of a community."""
    invalidate(community_tag(community_id), COMMUNITIES)
