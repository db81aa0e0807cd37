"""Moderation of single posts. Each decision locks the row, requires certain statuses, and updates the counts.

All raise MessageNotFound (404), or NotInThisState (409) for another status.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from config.admin.audit import log_decision
from config.cache.versions import EVERYTHING, invalidate
from config.database.sql import execute
from config.writes.retries import retried
from messaging.exceptions import MessageNotFound, NotInThisState
from messaging.models import Account, Message, MessageStatus
from messaging.models.message import MessageQuerySet
from messaging.services.changes import record_moderated
from messaging.services.messages import count_answer

# A decision on a post changes all replies below it (see migration 0015).
ALLOW_LONG_STATEMENTS = "SELECT set_config('statement_timeout', '120s', true)"
PUBLISHED, PENDING, HIDDEN = MessageStatus.PUBLISHED, MessageStatus.PENDING, MessageStatus.HIDDEN


def approve_message(*, message_id: UUID, by: Account, reason: str = "") -> Message:
    """Publish a pending post."""
    return _move(message_id, by=by, reason=reason, start={PENDING}, end=PUBLISHED, verb="Approved")


def hide_message(*, message_id: UUID, by: Account, reason: str = "") -> Message:
    """Hide a published or pending post from public responses."""
    return _move(message_id, by=by, reason=reason, start={PUBLISHED, PENDING}, end=HIDDEN, verb="Hidden")


def restore_message(*, message_id: UUID, by: Account, reason: str = "") -> Message:
    """Publish a hidden post."""
    return _move(message_id, by=by, reason=reason, start={HIDDEN}, end=PUBLISHED, verb="Restored")


@retried
@transaction.atomic
def _move(
    message_id: UUID,
    *,
    by: Account,
    reason: str,
    start: Collection[MessageStatus],
    end: MessageStatus,
    verb: str,
) -> Message:
    message = next(iter(locked_posts([message_id], Message.objects.all())), None)
    if message is None:
        raise MessageNotFound
    if message.status not in start:
        raise NotInThisState(status=message.status)
    execute(ALLOW_LONG_STATEMENTS)
    before = _public_status(message)
    record_moderated([(message, before, end)], by=by, reason=reason)
    message.status, message.updated_at = end, timezone.now()
    message.status_before_hiding = HIDDEN if (before, end) == (PENDING, HIDDEN) else None
    message.held_after_edit = message.held_after_edit and end != PUBLISHED
    message.save(update_fields=["status", "status_before_hiding", "held_after_edit", "updated_at"])
    if (before == PUBLISHED) != (end == PUBLISHED):
        count_answer(parent_id=message.parent_id, quote_id=message.quote_id, by=-1 if before == PUBLISHED else 1)
    # Every list may contain a quote of the post.
    invalidate(EVERYTHING)
    log_decision(by=by, about=message, verb=verb, reason=reason)
    return message


def _public_status(message: Message) -> MessageStatus:
    """What the public knows of a post: PUBLISHED, HIDDEN if it was public, PENDING if it never was."""
    if message.status == PUBLISHED:
        return PUBLISHED
    return HIDDEN if message.was_public else PENDING


def locked_posts(ids: Collection[UUID], posts: MessageQuerySet) -> list[Message]:
    """Those of `posts` with these ids, locked with their parents and quoted posts, in id order as in every write."""
    rows = Message.objects.filter(pk__in=ids).values_list("pk", "parent_id", "quote_id")
    to_lock = {message_id for row in rows for message_id in row if message_id is not None}
    locked = posts.select_for_update(no_key=True).filter(pk__in=to_lock).order_by("id")
    requested = set(ids)
    return [message for message in locked if message.pk in requested]
