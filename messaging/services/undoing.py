"""Undoes decisions on posts: each gives a post the status of before, and opens the reports that the decision closed.

`decided_at`: that of the post after the decision to undo; None: not known, the latest one is undone. All raise
MessageNotFound (404), or NotInThisState (409) for another status, or if another decision on the post followed.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from kernel.admin.audit import log_decision, transition
from kernel.writes.retries import retried
from messaging.exceptions import NotInThisState
from messaging.models import Account, Act, Message, MessageStatus
from messaging.services.decisions import log_about_post
from messaging.services.moderation import DELETED, HIDDEN, PENDING, PUBLISHED, end_of, locked_message, set_status
from messaging.services.reporting import open_closed_reports

NEVER_APPROVED = {PENDING, HIDDEN}


@retried
@transaction.atomic
def return_to_review(*, message_id: UUID, by: Account, reason: str = "", decided_at: datetime | None = None) -> Message:
    """Make a published or hidden post pending, which undoes its approval, or the hiding of a pending post."""
    message = locked_message(message_id, start={PUBLISHED, HIDDEN}, decided_at=decided_at)
    end = end_of(message, PENDING)
    verb = transition("Returned to review", message.status, end)
    _undo(message, end, by=by, reason=reason)
    log_decision(by=by, about=message, verb=verb, reason=reason)
    return message


@retried
@transaction.atomic
def undo_hiding(*, message_id: UUID, by: Account, reason: str = "", decided_at: datetime | None = None) -> Message:
    """Give a hidden post the status that it had before: a post that waited for approval is not published."""
    message = locked_message(message_id, start={HIDDEN}, decided_at=decided_at)
    if message.is_held or message.status_before_hiding in NEVER_APPROVED:
        return return_to_review(message_id=message_id, by=by, reason=reason)
    end = end_of(message, PUBLISHED)
    _undo(message, end, by=by, reason=reason)
    log_about_post(message, Act.RESTORED, by=by, verb=transition("Hiding undone", HIDDEN, end), reason=reason)
    return message


@retried
@transaction.atomic
def undo_restoring(*, message_id: UUID, by: Account, reason: str = "", decided_at: datetime | None = None) -> Message:
    """Hide a published post again, as it was hidden before it was restored; or the replies below one that is erased."""
    message = locked_message(message_id, start={PUBLISHED, DELETED}, decided_at=decided_at)
    former = message.status_before_hiding
    if message.status == DELETED and former != DELETED:
        raise NotInThisState(status=message.status)
    verb = transition("Restoring undone", message.status, HIDDEN)
    _undo(message, HIDDEN, by=by, reason=reason)
    _remember(message, former)
    log_about_post(message, Act.HIDDEN, by=by, verb=verb, reason=reason)
    return message


def _undo(message: Message, end: MessageStatus, *, by: Account, reason: str) -> None:
    open_closed_reports([message.pk])
    set_status(message, end, by=by, reason=reason)


def _remember(message: Message, former: str | None) -> None:
    """The status that a post had before it was hidden, restored and hidden again."""
    message.status_before_hiding = former
    if former in NEVER_APPROVED and not message.is_held:
        # It was public meanwhile: its next approval is no first publication.
        message.held_after_reports = True
    message.save(update_fields=["status_before_hiding", "held_after_reports"])
