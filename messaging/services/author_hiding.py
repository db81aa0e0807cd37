"""Decisions of moderators on all posts of an author in their community, which a job carries out in batches.

The posts of the author in other communities are left alone.
"""

from __future__ import annotations

from uuid import UUID

from kernel.api.exceptions import NotFound
from messaging.exceptions import AccountNotFound
from messaging.models import Account, BulkJob
from messaging.models.account import OF_SERVICE
from messaging.services.bulk_jobs import start_on_posts_in, start_undo
from messaging.services.moderators import moderated_community


def hide_author(*, community_id: UUID, account_id: UUID, by: Account, reason: str) -> BulkJob:
    """Start a job that hides all published and pending posts of an account in the community.

    Raises CommunityNotFound or AccountNotFound (404), ModeratorRequired (403), or NotInThisState (409) without one.
    """
    community = moderated_community(community_id=community_id, by=by)
    # All erased people share an heir, whose posts are of many.
    author = Account.objects.filter(pk=account_id).exclude(OF_SERVICE).first()
    if author is None:
        raise AccountNotFound
    return start_on_posts_in(community, author, by=by, reason=reason)


def undo_hide_author(*, community_id: UUID, job_id: UUID, by: Account, reason: str = "") -> BulkJob:
    """Start a job that gives the posts which such a job has hidden the status of before.

    Posts that were decided on since stay as they are. Raises CommunityNotFound or NotFound (404), ModeratorRequired
    (403), or JobNotUndoable (409) while the job runs, or if it is undone.
    """
    moderated_community(community_id=community_id, by=by)
    if not BulkJob.objects.filter(pk=job_id, community=community_id, kind=BulkJob.HIDE_POSTS).exists():
        raise NotFound
    return start_undo(job_id=job_id, kind=BulkJob.RESTORE_POSTS, by=by, reason=reason)
