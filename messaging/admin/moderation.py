"""Admin actions and filters of moderation."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest

from kernel.admin.actions import AdminAction
from messaging.models import Message, MessageStatus
from messaging.services.bans import ban_account, lift_ban
from messaging.services.closing import close_discussion, reopen_discussion
from messaging.services.moderation import approve_message, hide_message, restore_message
from messaging.services.pinning import pin_message, unpin_message
from messaging.services.undoing import return_to_review, undo_hiding, undo_restoring
from messaging.smart_tags import SMART_TAGS

APPROVE = AdminAction(
    name="approve",
    label="Approve",
    confirmation="The post is public at once.",
    success_message="approved",
    run=lambda row, **arguments: approve_message(message_id=row.pk, **arguments),
    is_available=lambda row: row.status == MessageStatus.PENDING,
    key="a",
    undo="return",
    takes_seen_at=True,
)
HIDE = AdminAction(
    name="hide",
    label="Hide",
    confirmation="The post is removed from every public list at once. It can be restored.",
    success_message="hidden",
    run=lambda row, **arguments: hide_message(message_id=row.pk, **arguments),
    is_available=lambda row: row.status in {MessageStatus.PENDING, MessageStatus.PUBLISHED},
    needs_reason=True,
    key="r",
    undo="undo-hiding",
)
RESTORE = AdminAction(
    name="restore",
    label="Restore",
    confirmation="The post is public again at once. One whose content is erased is shown as deleted, with its replies.",
    success_message="restored",
    run=lambda row, **arguments: restore_message(message_id=row.pk, **arguments),
    is_available=lambda row: row.status == MessageStatus.HIDDEN,
    key="p",
    undo="undo-restoring",
)
RETURN = AdminAction(
    name="return",
    label="Return to review",
    confirmation="The post is not public until it is approved.",
    success_message="returned to review",
    run=lambda row, **arguments: return_to_review(message_id=row.pk, **arguments),
    is_available=lambda row: (
        row.status in {MessageStatus.PUBLISHED, MessageStatus.HIDDEN}
        and row.status_before_hiding != MessageStatus.DELETED
    ),
    takes_decided_at=True,
)
UNDO_HIDING = AdminAction(
    name="undo-hiding",
    label="Undo hiding",
    confirmation="The post gets the state that it had before: a post that was never approved is pending again.",
    success_message="as before it was hidden",
    run=lambda row, **arguments: undo_hiding(message_id=row.pk, **arguments),
    is_available=lambda row: row.status == MessageStatus.HIDDEN,
    takes_decided_at=True,
)
UNDO_RESTORING = AdminAction(
    name="undo-restoring",
    label="Undo restoring",
    confirmation="The post is hidden again, as before it was restored.",
    success_message="hidden, as before it was restored",
    run=lambda row, **arguments: undo_restoring(message_id=row.pk, **arguments),
    is_available=lambda row: (
        row.status == MessageStatus.PUBLISHED or row.status == row.status_before_hiding == MessageStatus.DELETED
    ),
    bulk=False,
    takes_decided_at=True,
    # Hiding is offered instead.
    is_offered=False,
)
BAN = AdminAction(
    name="ban",
    label="Ban the author from the community",
    confirmation="The author, and every agent of theirs, cannot write in this community. The posts stay.",
    success_message="author banned from the community",
    run=lambda row, **arguments: ban_account(community_id=row.community_id, account_id=row.author_id, **arguments),
    is_available=lambda row: row.community_id is not None and not row.is_banned and not row.author.is_of_service,
    needs_reason=True,
    bulk=False,
)
LIFT_BAN = AdminAction(
    name="lift-ban",
    label="Lift the ban of the author",
    confirmation="The author can write in this community again.",
    success_message="ban lifted",
    run=lambda row, **arguments: lift_ban(community_id=row.community_id, account_id=row.author_id, **arguments),
    is_available=lambda row: row.is_banned,
    bulk=False,
)
PIN = AdminAction(
    name="pin",
    label="Pin",
    confirmation="The post is first where its community is shown on the page. A community pins at most three there.",
    success_message="pinned",
    run=lambda row, **arguments: pin_message(message_id=row.pk, **arguments),
    is_available=lambda row: (
        row.community_id is not None
        and row.parent_id is None
        and row.status == MessageStatus.PUBLISHED
        and not row.is_pinned
    ),
    bulk=False,
)
UNPIN = AdminAction(
    name="unpin",
    label="Unpin",
    confirmation="The post is in its place again.",
    success_message="unpinned",
    run=lambda row, **arguments: unpin_message(message_id=row.pk, **arguments),
    is_available=lambda row: row.is_pinned,
    bulk=False,
)
CLOSE = AdminAction(
    name="close-discussion",
    label="Close the discussion",
    confirmation="The community takes no more posts, replies and quotes on this page. Those written can be read.",
    success_message="discussion closed",
    run=lambda row, **arguments: close_discussion(community_id=row.community_id, page_id=row.page_id, **arguments),
    is_available=lambda row: row.community_id is not None and not row.is_closed,
    bulk=False,
)
REOPEN = AdminAction(
    name="reopen-discussion",
    label="Reopen the discussion",
    confirmation="The community takes posts on this page again, unless its rule has closed the discussion.",
    success_message="discussion reopened",
    run=lambda row, **arguments: reopen_discussion(community_id=row.community_id, page_id=row.page_id, **arguments),
    is_available=lambda row: row.is_closed,
    bulk=False,
)
DECISIONS = (APPROVE, HIDE, RESTORE)
OTHERS = (RETURN, UNDO_HIDING, UNDO_RESTORING, PIN, UNPIN, CLOSE, REOPEN, BAN, LIFT_BAN)


class TagFilter(SimpleListFilter):
    """Lists the smart tag types of the registry, without a query on all posts."""

    title = "smart tag"
    parameter_name = "tag_type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(tag_type, tag.title) for tag_type, tag in SMART_TAGS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Message]) -> QuerySet[Message]:
        return queryset.filter(tag_type=self.value()) if self.value() else queryset
