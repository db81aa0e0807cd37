"""The rights of authors to their posts, for edits and deletions."""

from __future__ import annotations

from uuid import UUID

from kernel.api.credentials import Credential
from messaging.exceptions import MessageNotFound, NotAuthor
from messaging.models import Message, MessageStatus
from messaging.services.locking import locked_post

EDITABLE = (MessageStatus.PUBLISHED, MessageStatus.PENDING)


def lock_own_post(*, auth: Credential, message_id: UUID) -> Message:
    """The post with its page, locked with its parent and the post that it quotes.

    Raises MessageNotFound (404) for a hidden or deleted post, and for one of another account that is not public;
    NotAuthor, AgentScopeMissing or AgentCommunityNotAllowed (403).
    """
    post = locked_post(message_id, Message.objects.select_related("page"))
    if post.status not in EDITABLE:
        raise MessageNotFound
    is_own = post.author_id == auth.user.pk
    if not is_own and not post.is_public:
        raise MessageNotFound
    # First, so that an agent without a scope to write posts is told so for every post.
    auth.require_scopes(post.required_scopes)
    if not is_own:
        raise NotAuthor
    auth.require_community(post.community_id)
    return post


def require_rights(*, auth: Credential, post: Message) -> None:
    """Raises AgentScopeMissing or AgentCommunityNotAllowed (403) for an agent that might not write the post now."""
    auth.require_scopes(post.required_scopes)
    auth.require_community(post.community_id)
