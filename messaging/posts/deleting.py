"""Deletions of posts by their authors. A post that others have answered stays as a tombstone (see migration 0015)."""

from __future__ import annotations

from uuid import UUID

from kernel.admin.audit import forget_names_about
from kernel.api.credentials import Credential
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.database.sql import allow_long_statements, database_now
from kernel.writes.transaction import WriteTransaction
from messaging.cache_tags import invalidate_message
from messaging.changes.recording import record_deleted
from messaging.models import Message, MessageStatus
from messaging.moderation.reporting import close_reports
from messaging.posts.editing import store_version
from messaging.posts.message_fields import CONTENT_FIELDS
from messaging.posts.rights import LONG_STATEMENT_SECONDS, lock_own_post
from messaging.posts.services import count_answer


def delete_message(*, auth: Credential, message_id: UUID, transaction: WriteTransaction) -> None:
    """Delete a post and erase its content; its last version is stored for moderators, and its reports are closed.

    Raises as `lock_own_post`, so MessageNotFound (404) when it is repeated.
    """
    post = lock_own_post(auth=auth, message_id=message_id)
    now = database_now()
    store_version(post, now=now)
    if post.is_held:
        # All replies to it appear again.
        allow_long_statements(LONG_STATEMENT_SECONDS)
    Message.objects.filter(pk=post.pk).update(
        **{field.column: field.model_field.get_default() for field in CONTENT_FIELDS},
        status=MessageStatus.DELETED,
        held_after_edit=False,
        held_after_reports=False,
        edited_at=None,
        updated_at=now,
    )
    close_reports([post.pk], at=now)
    forget_names_about(Message, [post.pk])
    if post.status == MessageStatus.PUBLISHED:
        count_answer(parent_id=post.parent_id, quote_id=post.quote_id, by=-1)
    if post.was_public:
        record_deleted(post, transaction=transaction)
        _invalidate(post)


def _invalidate(post: Message) -> None:
    """All responses if others than those of the post and its parent may change.

    Any list may contain a quote of it; a tombstone above it may disappear; the replies to a held post appear again.
    """
    if post.quote_count or post.is_held or _answers_tombstone(post):
        invalidate(EVERYTHING)
    else:
        invalidate_message(page_id=post.page_id, message_id=post.pk, community_id=post.community_id)


def _answers_tombstone(post: Message) -> bool:
    return post.parent is not None and post.parent.status == MessageStatus.DELETED
