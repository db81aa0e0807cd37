"""Hides all posts by an author, and restores them. Callers check that `by` is a super admin.

An author may have very many posts, so a job (`bulk_jobs`) changes them in batches, each in its own transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q

from kernel.admin.audit import log_decision
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.database.sql import allow_long_statements, database_now
from kernel.writes.retries import retried
from messaging.models import Account, Act, Message, MessageStatus
from messaging.models.message import MessageQuerySet
from messaging.services.changes import record_moderated
from messaging.services.counting import count_answers
from messaging.services.decisions import note_for_communities
from messaging.services.locking import LONG_STATEMENT_SECONDS, is_latest, locked_posts
from messaging.services.moderation import HIDDEN, PENDING, PUBLISHED
from messaging.services.reporting import close_reports, open_closed_reports

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
