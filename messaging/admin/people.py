"""Admin actions on people, and on all posts by an account."""

from __future__ import annotations

from functools import partial

from config.admin.actions import AdminAction
from messaging.admin.desk.running import run_slice, run_soon
from messaging.models import Account, AccountKind, BulkJob, JobState
from messaging.services.bulk_jobs import start_on_posts_of
from messaging.services.hiding import posts_hidden_together, posts_to_hide
from messaging.services.people import suspend_person, unsuspend_person


def _is_active_person(account: Account) -> bool:
    return account.kind == AccountKind.HUMAN and account.is_active


def _is_suspended_person(account: Account) -> bool:
    return account.kind == AccountKind.HUMAN and not account.is_active


def _start(row: Account, *, kind: str, by: Account, reason: str = "") -> BulkJob:
    """The posts of most authors are changed at once, and the job is finished when its page opens."""
    job = run_slice(start_on_posts_of(row, kind=kind, by=by, reason=reason).pk)
    if job.state == JobState.RUNNING:
        run_soon()
    return job


SUSPEND = AdminAction(
    name="suspend",
    label="Suspend",
    confirmation="All sessions end, and every agent of this person stops, at once. The posts stay. This can be undone.",
    success_message="suspended",
    run=lambda row, **arguments: suspend_person(person=row, **arguments),
    is_available=_is_active_person,
    needs_reason=True,
)
UNSUSPEND = AdminAction(
    name="unsuspend",
    label="Unsuspend",
    confirmation="The person can sign in again, and the agents that are not frozen work again.",
    success_message="unsuspended",
    run=lambda row, **arguments: unsuspend_person(person=row, **arguments),
    is_available=_is_suspended_person,
)
HIDE_POSTS = AdminAction(
    name="hide-posts",
    label="Hide all posts of this author",
    confirmation=("All published and pending posts are hidden from public lists. You can restore them together."),
    success_message="the posts are being hidden",
    run=partial(_start, kind=BulkJob.HIDE_POSTS),
    is_available=lambda row: posts_to_hide(row).exists(),
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
    is_available=lambda row: posts_hidden_together(row).exists(),
    bulk=False,
)
