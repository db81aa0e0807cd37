"""Decisions on posts, how they are undone, and hiding all posts by an author. Callers check what `by` may decide.

Each decision locks the row, requires certain statuses, updates the counts, and closes the reports of the post. An undo
gives a post the status of before, and opens the reports that the decision closed. Its `decided_at` is that of the post
after the decision to undo; None: not known, the latest one is undone. All raise MessageNotFound (404), or
NotInThisState (409) for another status, or if another decision on the post followed; those on one post raise
WaitsForOperator (409) for a draft of an agent.

An author may have very many posts, so a job (`bulk_jobs`) changes them in batches, each in its own transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q

from kernel.admin.audit import log_decision, transition
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.database.sql import allow_long_statements, database_now
from kernel.writes.transaction import retried
from messaging.changes.recording import record_moderated
from messaging.models import Account, Act, Message, MessageStatus
from messaging.models.message import MessageQuerySet
from messaging.moderation.decisions import log_about_post, note_for_communities
from messaging.moderation.reporting import close_reports, open_closed_reports
from messaging.posts.exceptions import NotInThisState, WaitsForOperator
from messaging.posts.rights import LONG_STATEMENT_SECONDS, is_latest, locked_post, locked_posts, require_seen
from messaging.posts.services import count_answer, count_answers

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
    if message.is_draft:
        raise WaitsForOperator
    require_seen(message, seen_at)
    if message.status not in start or not is_latest(message, decided_at):
        raise NotInThisState(status=message.status)
    return message


def end_of(message: Message, end: MessageStatus) -> MessageStatus:
    """`end`, but DELETED for a hidden post whose content is erased: only its replies can be public again."""
    return DELETED if message.status_before_hiding == DELETED else end


def set_status(message: Message, end: MessageStatus, *, by: Account, reason: str, is_by_operator: bool = False) -> None:
    """Give a locked post the status `end`, and the fields that remember what it was before."""
    allow_long_statements(LONG_STATEMENT_SECONDS)
    before = _public_status(message)
    record_moderated([(message, before, end)], by=by, reason=reason, is_by_operator=is_by_operator)
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


BATCH = 200
# The statuses of the posts that are hidden together, which they get again when they are restored together.
HIDEABLE = (PUBLISHED, PENDING)
TO_HIDE = Q(status__in=HIDEABLE)
HIDDEN_TOGETHER = Q(status=HIDDEN, status_before_hiding__in=HIDEABLE)
LOCKED = Message.objects.only(
    *("status", "status_before_hiding", "held_after_edit", "held_after_reports", "decided_at"),
    *("parent_id", "quote_id", "page_id", "community_id", "author_id"),
)


def posts_to_hide(author: Account) -> MessageQuerySet:
    """All of them, if all posts of the author are hidden."""
    return Message.objects.filter(TO_HIDE, author=author)


def posts_hidden_together(author: Account) -> MessageQuerySet:
    """Those that can be restored together. Posts that were hidden one by one stay hidden."""
    return Message.objects.filter(HIDDEN_TOGETHER, author=author)


def log_all_posts(posts: MessageQuerySet, act: Act, *, count: int, by: Account, author: Account, reason: str) -> None:
    """Before the first batch, so that the history includes an interrupted run."""
    log_decision(by=by, about=author, verb=f"All posts {act} ({count})", reason=reason)
    note_for_communities(posts, act, by=by, account=author, reason=reason)


@retried
@transaction.atomic
def hide_batch(chosen: Mapping[UUID, datetime | None], by: Account, reason: str) -> dict[UUID, datetime | None]:
    """Hide those of these posts that are published or pending, and return them with their `decided_at`.

    `chosen` has the `decided_at` that a post got by the decision that is undone; None: any.
    """
    posts = [post for post in _locked(chosen) if post.status in HIDEABLE]
    now = _update(posts, status=HIDDEN, status_before_hiding=F("status"))
    close_reports([post.pk for post in posts], at=now)
    count_answers((post for post in posts if post.status == PUBLISHED), by=-1)
    record_moderated(((post, post.status, HIDDEN) for post in posts), by=by, reason=reason)
    return {post.pk: now for post in posts}


@retried
@transaction.atomic
def restore_batch(chosen: Mapping[UUID, datetime | None], by: Account, reason: str) -> dict[UUID, datetime | None]:
    """Undo `hide_batch` for those of these posts that it has hidden. Takes and returns the same as it."""
    posts = [post for post in _locked(chosen) if post.status == HIDDEN and post.status_before_hiding in HIDEABLE]
    open_closed_reports([post.pk for post in posts])
    now = _update(posts, status=F("status_before_hiding"), status_before_hiding=None)
    count_answers((post for post in posts if post.status_before_hiding == PUBLISHED), by=1)
    moves = ((post, HIDDEN, post.status_before_hiding or HIDDEN) for post in posts)
    record_moderated(moves, by=by, reason=reason)
    return {post.pk: now for post in posts}


def _locked(chosen: Mapping[UUID, datetime | None]) -> list[Message]:
    return [post for post in locked_posts(chosen, LOCKED) if is_latest(post, chosen[post.pk])]


def _update(posts: list[Message], **changes: MessageStatus | F | None) -> datetime:
    """Returns the new `updated_at` and `decided_at` of the posts."""
    allow_long_statements(LONG_STATEMENT_SECONDS)
    now = database_now()
    Message.objects.filter(pk__in=[post.pk for post in posts]).update(updated_at=now, decided_at=now, **changes)
    invalidate(EVERYTHING)
    return now


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
