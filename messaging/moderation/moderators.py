"""Decisions of moderators on posts, and on the rules of their communities, for the API and the account area.

A job carries out a decision on all posts of an author in a community, in batches. The posts of the author in other
communities are left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction

from kernel.admin.audit import log_decision
from kernel.api.exceptions import InvalidInput, NotFound
from kernel.writes.transaction import retried
from messaging.communities.moderators import moderated_community, moderates, require_moderator_of_post
from messaging.communities.services import RULES, change_community
from messaging.models import Account, BulkJob, Community, Message
from messaging.models.account import OF_SERVICE
from messaging.moderation import services as undoing
from messaging.moderation.bulk_jobs import start_on_posts_in, start_undo
from messaging.moderation.exceptions import AccountNotFound
from messaging.moderation.queries import waiting_in
from messaging.moderation.reporting import dismiss_reports
from messaging.moderation.services import approve_message, hide_message, restore_message
from messaging.posts.editing import describe_changes
from messaging.posts.embed_views import find_shown
from messaging.posts.exceptions import NotInThisState

# The name of each changeable column in the API.
NAMES = {"blocked_words": "blockedWords"} | {column: f"rules.{rule}" for rule, (column, _read) in RULES.items()}


class OwnModeration(NamedTuple):
    """What an account may decide in the widget of an embed."""

    community_id: UUID
    moderates: bool = False
    pending: int = 0
    reported: int = 0
    queue_url: str | None = None


def own_moderation(*, embed_id: UUID, by: Account) -> OwnModeration:
    """Whether the account moderates the community of an embed, and how many posts wait there.

    Raises the errors of `messaging.posts.embed_views.embed_errors`.
    """
    community_id = find_shown(embed_id).community_id
    if not moderates(by, community_id):
        return OwnModeration(community_id)
    slug = Community.objects.values_list("slug", flat=True).get(pk=community_id)
    queue_url = f"{settings.BASE_URL}/account/communities/{slug}/moderation/"
    return OwnModeration(community_id, True, *waiting_in(community_id), queue_url)


def approve(*, message_id: UUID, by: Account, reason: str = "", seen_at: datetime | None = None) -> Message:
    """Publish a pending post. A published post that readers have reported stays: its reports are closed.

    Raises MessageNotFound (404), ModeratorRequired (403), NotInThisState (409). With `seen_at`, the `updated_at` of the
    post as the moderator saw it, a post that was edited since is MessageEdited (409).
    """
    require_moderator_of_post(message_id=message_id, by=by)
    try:
        return approve_message(message_id=message_id, by=by, reason=reason, seen_at=seen_at)
    except NotInThisState:
        return dismiss_reports(message_id=message_id, by=by, reason=reason, seen_at=seen_at)


def dismiss(*, message_id: UUID, by: Account, reason: str = "", seen_at: datetime | None = None) -> Message:
    """Close the open reports of a post, which stays as it is: a pending one still waits. Raises as `approve`."""
    require_moderator_of_post(message_id=message_id, by=by)
    return dismiss_reports(message_id=message_id, by=by, reason=reason, seen_at=seen_at)


def hide(*, message_id: UUID, by: Account, reason: str = "") -> Message:
    """Hide a published or pending post. Raises as `approve`."""
    require_moderator_of_post(message_id=message_id, by=by)
    return hide_message(message_id=message_id, by=by, reason=reason)


def restore(*, message_id: UUID, by: Account, reason: str = "", undo: bool = False) -> Message:
    """Publish a hidden post; with `undo`, give it the status of before. Raises as `approve`."""
    if undo:
        return undo_hiding(message_id=message_id, by=by, reason=reason)
    require_moderator_of_post(message_id=message_id, by=by)
    return restore_message(message_id=message_id, by=by, reason=reason)


def undo_hiding(*, message_id: UUID, by: Account, reason: str = "", decided_at: datetime | None = None) -> Message:
    """Give a hidden post the status of before, and open its reports again. Raises as `approve`.

    With `decided_at`, that of the post after the hiding, a later decision on the post is NotInThisState too.
    """
    require_moderator_of_post(message_id=message_id, by=by)
    return undoing.undo_hiding(message_id=message_id, by=by, reason=reason, decided_at=decided_at)


@retried
@transaction.atomic
def change_rules(*, community_id: UUID, changes: Mapping[str, Any], by: Account, reason: str = "") -> Community:
    """Set columns of the rules and the word list. Equal values change nothing.

    Raises InvalidInput (400), CommunityNotFound (404), ModeratorRequired (403).
    """
    community = moderated_community(community_id=community_id, by=by, lock=True)
    changed = [column for column in changes if column in NAMES and getattr(community, column) != changes[column]]
    if changed:
        before = {column: getattr(community, column) for column in changed}
        try:
            change_community(community, {column: changes[column] for column in changed}, by=by, reason=reason)
        except ValidationError as failure:
            column, texts = next(iter(failure.message_dict.items()))
            raise InvalidInput(f"Correct `{NAMES[column]}`: {' '.join(texts)}", field=NAMES[column]) from None
        after = {column: getattr(community, column) for column in changed}
        log_decision(by=by, about=community, verb=f"Changed {describe_changes(before, after)}", reason=reason)
    return community


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
