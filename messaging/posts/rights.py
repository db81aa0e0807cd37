"""The rights of authors to their posts, and the locks on posts for decisions, edits, deletions and reports."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from kernel.api.credentials import Credential
from kernel.api.exceptions import ApiError
from messaging.models import Message, MessageStatus
from messaging.models.message import MessageQuerySet
from messaging.posts.exceptions import MessageEdited, MessageNotFound, NotAuthor

# A decision on a post changes all replies below it (see migration 0015).
LONG_STATEMENT_SECONDS = 120
# Of dates in JavaScript: a client may return a time cut to it.
PRECISION = timedelta(milliseconds=1)


def locked_posts(ids: Collection[UUID], posts: MessageQuerySet) -> list[Message]:
    """Those of `posts` with these ids, locked with their parents and quoted posts, in id order as in every write."""
    rows = Message.objects.filter(pk__in=ids).values_list("pk", "parent_id", "quote_id")
    to_lock = {message_id for row in rows for message_id in row if message_id is not None}
    locked = posts.select_for_update(no_key=True, of=("self",)).filter(pk__in=to_lock).order_by("id")
    requested = set(ids)
    return [message for message in locked if message.pk in requested]


def locked_post(
    message_id: UUID, posts: MessageQuerySet | None = None, *, missing: type[ApiError] = MessageNotFound
) -> Message:
    """One post like `locked_posts`, among all posts or among `posts`; raises `missing` (404)."""
    for post in locked_posts([message_id], Message.objects.all() if posts is None else posts):
        return post
    raise missing


def is_latest(post: Message, decided_at: datetime | None) -> bool:
    """Whether no decision on a (locked) post followed the one that gave it this `decided_at`; None: not known."""
    return decided_at is None or post.decided_at == decided_at


def require_seen(post: Message, seen_at: datetime | None) -> None:
    """Raises MessageEdited (409) if a (locked) post was edited after a moderator saw it.

    `seen_at`: the `updated_at` of what the moderator saw; None: not known. Both times are the database's.
    """
    if seen_at is None or post.edited_at is None:
        return
    # An edit sets both. `updated_at` also changes without one, and an import may have given a post an earlier one.
    if min(post.edited_at, post.updated_at) - seen_at >= PRECISION:
        raise MessageEdited


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
