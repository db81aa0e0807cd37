"""Hides and restores all posts of an account, as the admin and the command `hide_posts` do: by a job."""

from __future__ import annotations

from messaging.models import Account, BulkJob
from messaging.moderation.bulk_jobs import start_on_posts_of
from messaging.moderation.lists.running import run_slice
from tests.waiting import PATIENCE_SECONDS


def hide_posts_of(*, author: Account, by: Account, reason: str = "") -> int:
    """Returns the number of posts that were changed."""
    return _run(BulkJob.HIDE_POSTS, author, by, reason)


def restore_posts_of(*, author: Account, by: Account, reason: str = "") -> int:
    return _run(BulkJob.RESTORE_POSTS, author, by, reason)


def _run(kind: str, author: Account, by: Account, reason: str) -> int:
    job = start_on_posts_of(author, kind=kind, by=by, reason=reason)
    return run_slice(job.pk, seconds=PATIENCE_SECONDS).done
