"""Hides and restores all posts of an account, as the admin and the command `hide_posts` do: by a job."""

from __future__ import annotations

from messaging.admin.desk.running import run_to_end
from messaging.models import Account, BulkJob
from messaging.services.bulk_jobs import start_on_posts_of


def hide_posts_of(*, author: Account, by: Account, reason: str = "") -> int:
    """Returns the number of posts that were changed."""
    return _run(BulkJob.HIDE_POSTS, author, by, reason)


def restore_posts_of(*, author: Account, by: Account, reason: str = "") -> int:
    return _run(BulkJob.RESTORE_POSTS, author, by, reason)


def _run(kind: str, author: Account, by: Account, reason: str) -> int:
    return run_to_end(start_on_posts_of(author, kind=kind, by=by, reason=reason).pk).done
