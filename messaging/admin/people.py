"""Admin actions on people, and on all posts by an account."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from django.db.models import Count

from kernel.admin import paginator
from kernel.admin.actions import AdminAction
from messaging.admin.desk.running import run_now
from messaging.models import Account, AccountKind, BulkJob, Message
from messaging.services.bulk_jobs import start_on_posts_of
from messaging.services.hiding import HIDDEN_TOGETHER, TO_HIDE
from messaging.services.people import suspend_person, unsuspend_person


def _is_person(account: Account, *, is_active: bool) -> bool:
    return account.kind == AccountKind.HUMAN and account.is_active == is_active and not account.is_of_service


class PostCounts(NamedTuple):
    """How many posts of an author can be hidden, and restored. An author may have millions of which none can."""

    to_hide: int
    hidden_together: int
    # Among so many latest posts. None: among all.
    of_latest: int | None


def count_posts(author: Account) -> PostCounts:
    most = paginator.COUNTED_MAX
    posts = Message.objects.filter(author=author).order_by("-pk")[:most]
    counts = posts.aggregate(
        to_hide=Count("pk", filter=TO_HIDE), hidden=Count("pk", filter=HIDDEN_TOGETHER), read=Count("pk")
    )
    return PostCounts(counts["to_hide"], counts["hidden"], most if counts["read"] == most else None)


def _may_hide(author: Account) -> bool:
    if author.is_of_service:
        return False
    counts = count_posts(author)
    return counts.to_hide > 0 or counts.of_latest is not None


def _may_restore(author: Account) -> bool:
    if author.is_of_service:
        return False
    counts = count_posts(author)
    return counts.hidden_together > 0 or counts.of_latest is not None


def _start(row: Account, *, kind: str, by: Account, reason: str = "") -> BulkJob:
    return run_now(start_on_posts_of(row, kind=kind, by=by, reason=reason))


SUSPEND = AdminAction(
    name="suspend",
    label="Suspend",
    confirmation="All sessions end, and every agent of this person stops, at once. The posts stay. This can be undone.",
    success_message="suspended",
    run=lambda row, **arguments: suspend_person(person=row, **arguments),
    is_available=partial(_is_person, is_active=True),
    needs_reason=True,
)
UNSUSPEND = AdminAction(
    name="unsuspend",
    label="Unsuspend",
    confirmation="The person can sign in again, and the agents that are not frozen work again.",
    success_message="unsuspended",
    run=lambda row, **arguments: unsuspend_person(person=row, **arguments),
    is_available=partial(_is_person, is_active=False),
)
HIDE_POSTS = AdminAction(
    name="hide-posts",
    label="Hide all posts of this author",
    confirmation=("All published and pending posts are hidden from public lists. You can restore them together."),
    success_message="the posts are being hidden",
    run=partial(_start, kind=BulkJob.HIDE_POSTS),
    is_available=_may_hide,
    needs_reason=True,
    bulk=False,
)
RESTORE_POSTS = AdminAction(
    name="restore-posts",
    label="Restore all posts of this author",
    confirmation=(
        "The posts that were hidden together get their previous status. Posts that were hidden one by one stay hidden."
    ),
    success_message="the posts are being restored",
    run=partial(_start, kind=BulkJob.RESTORE_POSTS),
    is_available=_may_restore,
    bulk=False,
)
