"""Decisions on single posts. Each decision locks the row, requires certain statuses, updates the counts, and closes
the reports of the post.

All raise MessageNotFound (404), or NotInThisState (409) for another status.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import transaction

from kernel.admin.audit import transition
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.database.sql import allow_long_statements, database_now
from kernel.writes.retries import retried
from messaging.exceptions import NotInThisState
from messaging.models import Account, Act, Message, MessageStatus
from messaging.services.changes import record_moderated
from messaging.services.decisions import log_about_post
from messaging.services.locking import LONG_STATEMENT_SECONDS, is_latest, locked_post, require_seen
from messaging.services.messages import count_answer
from messaging.services.reporting import close_reports

PUBLISHED, PENDING = MessageStatus.PUBLISHED, MessageStatus.PENDING
HIDDEN, DELETED = MessageStatus.HIDDEN, MessageStatus.DELETED


def approve_message(*, message_id: UUID, by: Account, reason: str = "", seen_at: datetime | None = None) -> Message:
    """Publish a pending post.

    Raises MessageEdited (409) if it was edited after `seen_at`, its `updated_at` as the moderator saw it.
    """
    return _move(message_id, by=by, reason=reason, start={PENDING}, end=PUBLISHED, act=Act.APPROVED, seen_at=seen_at)


def hide_message(*, message_id: UUID, by: Account, reason: str = "") -> Message:
    """Hide a published or pending post from public responses."""
    return _move(message_id, by=by, reason=reason, start={PUBLISHED, PENDING}, end=HIDDEN, act=Act.HIDDEN)


def restore_message(*, message_id: UUID, by: Account, reason: str = "") -> Message:
    """Publish a hidden post, or make it a deleted one if its content is erased."""
    return _move(message_id, by=by, reason=reason, start={HIDDEN}, end=PUBLISHED, act=Act.RESTORED)


@retried
@transaction.atomic
def _move(
    message_id: UUID,
    *,
    by: Account,
    reason: str,
    start: Collection[MessageStatus],
    end: MessageStatus,
    act: Act,
    seen_at: datetime | None = None,
) -> Message:
    message = locked_message(message_id, start=start, seen_at=seen_at)
    end = end_of(message, end)
    verb = transition(str(act.label), message.status, end)
    set_status(message, end, by=by, reason=reason)
    close_reports([message.pk], at=message.updated_at)
    log_about_post(message, act, by=by, verb=verb, reason=reason)
    return message


def locked_message(
    message_id: UUID,
    *,
    start: Collection[MessageStatus],
    seen_at: datetime | None = None,
    decided_at: datetime | None = None,
) -> Message:
    message = locked_post(message_id)
    require_seen(message, seen_at)
    if message.status not in start or not is_latest(message, decided_at):
        raise NotInThisState(status=message.status)
    return message


def end_of(message: Message, end: MessageStatus) -> MessageStatus:
    """`end`, but DELETED for a hidden post whose content is erased: only its replies can be public again."""
    return DELETED if message.status_before_hiding == DELETED else end


def set_status(message: Message, end: MessageStatus, *, by: Account, reason: str) -> None:
    """Give a locked post the status `end`, and the fields that remember what it was before."""
    allow_long_statements(LONG_STATEMENT_SECONDS)
    before = _public_status(message)
    record_moderated([(message, before, end)], by=by, reason=reason)
    if end not in (PUBLISHED, DELETED):
        # A restored post remembers it for `undo_restoring`.
        message.status_before_hiding = HIDDEN if (message.status, end) == (PENDING, HIDDEN) else None
    message.status, message.updated_at = end, database_now()
    message.decided_at = message.updated_at
    message.held_after_edit = message.held_after_edit and end != PUBLISHED
    message.held_after_reports = message.held_after_reports and end != PUBLISHED
    if end == PENDING and before != PENDING and not message.is_held:
        # It was public: its next approval is no first publication.
        message.held_after_reports = True
    columns = ["status", "status_before_hiding", "held_after_edit", "held_after_reports", "updated_at", "decided_at"]
    message.save(update_fields=columns)
    if (before == PUBLISHED) != (end == PUBLISHED):
        count_answer(parent_id=message.parent_id, quote_id=message.quote_id, by=-1 if before == PUBLISHED else 1)
    # Every list may contain a quote of the post.
    invalidate(EVERYTHING)


def _public_status(message: Message) -> MessageStatus:
    """What the public knows of a post: its status, or HIDDEN if it was public, PENDING if it never was."""
    if message.status in (PUBLISHED, DELETED):
        return MessageStatus(message.status)
    return HIDDEN if message.was_public else PENDING
