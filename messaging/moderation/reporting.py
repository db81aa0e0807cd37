"""Reports of posts by people. A community may have a number of reports put a post back to review."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet, Subquery
from django.db.models.functions import Coalesce

from kernel.admin.audit import log_decision, transition
from kernel.api.exceptions import OtherCommunity
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.database.sql import allow_long_statements, database_now
from kernel.writes.deletion import delete_in_batches
from kernel.writes.transaction import WriteTransaction, retried
from messaging.changes.recording import record_reported
from messaging.models import Account, Act, Ban, Message, MessageStatus, Report
from messaging.models.moderation import REPORTABLE, dismissed_reports, open_reports
from messaging.moderation.decisions import log_about_post
from messaging.posts.exceptions import MessageNotFound, NotInThisState
from messaging.posts.rights import LONG_STATEMENT_SECONDS, is_latest, locked_post, require_seen
from messaging.posts.services import count_answer

# So long the same person cannot report a post again, on whose report a moderator has decided.
CLOSED_DAYS = 180


def report_message(
    *, message_id: UUID, by: Account, reason: str, note: str = "", transaction: WriteTransaction
) -> None:
    """Report a public post; a second report by the same person changes nothing, also after the post was hidden.

    Raises MessageNotFound (404), OtherCommunity (403).
    """
    post = locked_post(message_id, Message.objects.select_related("community"))
    if post.reports.filter(reporter=by).exists():
        return
    if not post.is_public:
        raise MessageNotFound
    # A site makes as many accounts as it likes: they report nothing elsewhere.
    if by.site_community_id not in (None, post.community_id):
        raise OtherCommunity(allowed=[str(by.site_community_id)])
    Report.objects.create(message=post, reporter=by, reason=reason, note=note)
    limit = post.community.reports_to_hide if post.community else 0
    # Reports by accounts that are banned from the community do not count.
    banned = Ban.objects.filter(community=post.community_id).values("account")
    count = open_reports().filter(message=post).exclude(reporter__in=banned).count()
    is_held = 0 < limit <= count
    if is_held:
        _hold(post, by=by, count=count)
    record_reported(post, by=by, is_held=is_held, transaction=transaction)


@retried
@transaction.atomic
def dismiss_reports(*, message_id: UUID, by: Account, reason: str = "", seen_at: datetime | None = None) -> Message:
    """Close the open reports of a post, which stays as it is.

    Raises MessageNotFound (404), NotInThisState (409) without open reports, or MessageEdited (409) if the post was
    edited after `seen_at`, its `updated_at` as the moderator saw it.
    """
    post = locked_post(message_id)
    require_seen(post, seen_at)
    now = database_now()
    if not close_reports([post.pk], at=now, dismissed=True):
        raise NotInThisState(status=post.status)
    _mark_decided(post, at=now)
    log_about_post(post, Act.DISMISSED, by=by, verb=transition("Reports dismissed", "open", "closed"), reason=reason)
    return post


@retried
@transaction.atomic
def reopen_reports(*, message_id: UUID, by: Account, reason: str = "", decided_at: datetime | None = None) -> Message:
    """Undo the latest dismissal: its reports are open again, and the post stays as it is. Does nothing without one.

    Raises MessageNotFound (404), or NotInThisState (409) if the post is hidden or deleted, or if another decision
    followed the dismissal that gave the post this `decided_at`.
    """
    post = locked_post(message_id)
    if post.status not in REPORTABLE or not is_latest(post, decided_at):
        raise NotInThisState(status=post.status)
    dismissed = dismissed_reports().filter(message=post)
    # A dismissal closes all open reports of a post at the same time.
    latest = dismissed.order_by("-closed_at").values("closed_at")[:1]
    if dismissed.filter(closed_at=Subquery(latest)).update(closed_at=None, dismissed=False):
        _mark_decided(post, at=database_now())
        log_decision(by=by, about=post, verb=transition("Dismissal of reports undone", "closed", "open"), reason=reason)
    return post


def close_reports(message_ids: Collection[UUID], *, at: datetime, dismissed: bool = False) -> int:
    """Close the reports of (locked) posts on which a moderator decides; returns their number.

    Closed reports do not count: after an approval, as many reports by other people are needed again. `at`: the time of
    the decision. For one that changes the posts it is their `updated_at`, by which `open_closed_reports` finds them.
    """
    reports = open_reports()
    if not dismissed:
        # Undoing a dismissal of before would open reports that this decision has settled.
        reports |= dismissed_reports()
    closed_at = Coalesce("closed_at", at)
    return reports.filter(message__in=message_ids).update(closed_at=closed_at, dismissed=dismissed)


def open_closed_reports(message_ids: Collection[UUID]) -> None:
    """Open the reports that the latest decision on each of these (locked) posts has closed, before it is undone."""
    _closed_by_the_latest(message_ids).update(closed_at=None, dismissed=False)


def move_closing(message_ids: Collection[UUID], *, to: datetime) -> None:
    """Before a change that is no decision sets `updated_at` of these (locked) posts: their decisions can be undone."""
    _closed_by_the_latest(message_ids).update(closed_at=to)


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count the reports that were closed CLOSED_DAYS ago, for the command `prune`."""
    old = Report.objects.filter(closed_at__lt=now - timedelta(days=CLOSED_DAYS))
    return {"closed reports": old.count() if dry_run else delete_in_batches(old)}


def _closed_by_the_latest(message_ids: Collection[UUID]) -> QuerySet[Report]:
    return Report.objects.filter(closed_at=F("message__updated_at"), message__in=message_ids)


def _mark_decided(post: Message, *, at: datetime) -> None:
    post.decided_at = at
    post.save(update_fields=["decided_at"])


def _hold(post: Message, *, by: Account, count: int) -> None:
    """Make the post pending again. The triggers hide the replies to it."""
    allow_long_statements(LONG_STATEMENT_SECONDS)
    post.status, post.held_after_reports, post.updated_at = MessageStatus.PENDING, True, database_now()
    post.save(update_fields=["status", "held_after_reports", "updated_at"])
    count_answer(parent_id=post.parent_id, quote_id=post.quote_id, by=-1)
    # Every list may contain a quote of the post.
    invalidate(EVERYTHING)
    done = f"Put back to review after {count} report{'s'[: count != 1]}"
    log_decision(by=by, about=post, verb=transition(done, MessageStatus.PUBLISHED, post.status))
