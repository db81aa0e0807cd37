"""Admin actions and filters of moderation, reports of posts, and the reasons that super admins have ready."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.contrib.admin.widgets import AdminTextareaWidget
from django.db import models
from django.db.models import Count, Exists, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString

from kernel.admin.actions import AdminAction
from kernel.admin.changelists import QueueSummary, bounded_count
from kernel.admin.edit_conflicts import ConflictCheckedForm
from kernel.admin.formatting import age, badge, link
from kernel.admin.model_admin import ReadOnlyModelAdmin
from messaging.communities.bans import ban_account, lift_ban
from messaging.models import Message, MessageStatus, ReadyReason, Report
from messaging.models.moderation import OFFERED_MAX, REPORTABLE, dismissed_reports, open_reports, reported_posts
from messaging.moderation.pages import pin_message, unpin_message
from messaging.moderation.reporting import dismiss_reports, reopen_reports
from messaging.moderation.services import (
    approve_message,
    hide_message,
    restore_message,
    return_to_review,
    undo_hiding,
    undo_restoring,
)
from messaging.pages.discussions import close_discussion, reopen_discussion
from messaging.posts.editing import describe_changes
from messaging.smart_tags import SMART_TAGS

APPROVE = AdminAction(
    name="approve",
    label="Approve",
    confirmation="The post is public at once.",
    success_message="approved",
    run=lambda row, **arguments: approve_message(message_id=row.pk, **arguments),
    is_available=lambda row: row.status == MessageStatus.PENDING and not row.is_draft,
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
    is_available=lambda row: row.status in {MessageStatus.PENDING, MessageStatus.PUBLISHED} and not row.is_draft,
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
    is_available=lambda row: row.status == MessageStatus.HIDDEN and not row.is_draft,
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
REOPEN_DISCUSSION = AdminAction(
    name="reopen-discussion",
    label="Reopen the discussion",
    confirmation="The community takes posts on this page again, unless its rule has closed the discussion.",
    success_message="discussion reopened",
    run=lambda row, **arguments: reopen_discussion(community_id=row.community_id, page_id=row.page_id, **arguments),
    is_available=lambda row: row.is_closed,
    bulk=False,
)
DECISIONS = (APPROVE, HIDE, RESTORE)
OTHERS = (RETURN, UNDO_HIDING, UNDO_RESTORING, PIN, UNPIN, CLOSE, REOPEN_DISCUSSION, BAN, LIFT_BAN)


class TagFilter(SimpleListFilter):
    """Lists the smart tag types of the registry, without a query on all posts."""

    title = "smart tag"
    parameter_name = "tag_type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(tag_type, tag.title) for tag_type, tag in SMART_TAGS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Message]) -> QuerySet[Message]:
        return queryset.filter(tag_type=self.value()) if self.value() else queryset


REPORTS_SHOWN_MAX = 50
DISMISS = AdminAction(
    name="dismiss_reports",
    label="Dismiss reports",
    confirmation="The reports are closed. The post stays as it is.",
    success_message="reports dismissed",
    run=lambda row, **arguments: dismiss_reports(message_id=row.pk, **arguments),
    is_available=lambda row: row.status in REPORTABLE and row.open_reports > 0,
    key="d",
    undo="reopen_reports",
    takes_seen_at=True,
)
REOPEN_REPORTS = AdminAction(
    name="reopen_reports",
    label="Undo the dismissal of reports",
    confirmation="The reports that were dismissed last are open again. The post stays as it is.",
    success_message="reports are open again",
    run=lambda row, **arguments: reopen_reports(message_id=row.pk, **arguments),
    is_available=lambda row: row.status in REPORTABLE and row.has_dismissed,
    takes_decided_at=True,
)


def with_open_reports(posts: QuerySet[Message]) -> QuerySet[Message]:
    """Add to each post `open_reports`, a number, and `has_dismissed`, whether reports of it were dismissed."""
    of_post = open_reports().filter(message=OuterRef("pk")).order_by().values("message")
    count = Subquery(of_post.annotate(count=Count("pk")).values("count"))
    dismissed = Exists(dismissed_reports().filter(message=OuterRef("pk")))
    return posts.annotate(open_reports=Coalesce(count, 0), has_dismissed=dismissed)


class ReportedFilter(SimpleListFilter):
    title = "reports"
    parameter_name = "reports"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("open", f"Reported ({bounded_count(reported_posts(Message.objects.all()))})")]

    def queryset(self, request: HttpRequest, queryset: Any) -> QuerySet[Message]:
        return reported_posts(queryset) if self.value() else queryset


@admin.register(Report)
class ReportAdmin(ReadOnlyModelAdmin):
    list_display = ["about", "reason", "note", "reporter", "state", "reported"]
    list_display_links = None
    list_filter = ["reason", ("closed_at", admin.EmptyFieldListFilter)]
    list_select_related = ["message", "reporter"]
    search_fields = ["reporter__handle", "note"]
    search_help_text = "An @handle of who reported, or part of a note."
    ordering = ["-pk"]
    fields = ["about", "reason", "note", "reporter", "state", "reported"]
    readonly_fields = ["about", "state", "reported"]

    def queue_summary(self) -> QueueSummary:
        url = reverse("admin:messaging_message_changelist") + "?reports=open"
        return QueueSummary.of("reported posts", reported_posts(Message.objects.all()), url)

    @admin.display(description="post")
    def about(self, row: Report) -> str | SafeString:
        return link(row.message)

    @admin.display(description="state", ordering="closed_at")
    def state(self, row: Report) -> SafeString:
        return badge("open", "waiting") if row.closed_at is None else badge("closed", "")

    @admin.display(description="age", ordering="created_at")
    def reported(self, row: Report) -> str | SafeString:
        return age(row.created_at)


class ReadyReasonForm(ConflictCheckedForm):
    class Meta:
        model = ReadyReason
        fields = ["of", "text", "position"]


@admin.register(ReadyReason)
class ReadyReasonAdmin(ReadOnlyModelAdmin):
    """Editable. The history of the admin has what was changed."""

    form = ReadyReasonForm
    formfield_overrides = {models.CharField: {"widget": AdminTextareaWidget(attrs={"rows": 2})}}
    change_form_template = None  # type: ignore[assignment]  # Django's, which has a form
    list_display = ["text", "of", "position"]
    list_filter = ["of"]
    search_fields = ["text"]
    search_help_text = f"Part of a text. The first {OFFERED_MAX} of each list are offered, and can be edited when used."
    ordering = ["of", "position", "text"]
    fieldsets = [(None, {"fields": ["of", "text", "position", "opened"]})]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return True

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return True

    def construct_change_message(  # type: ignore[override]  # Django accepts text too
        self, request: HttpRequest, form: ReadyReasonForm, formsets: Any, add: bool = False
    ) -> str:
        after = {column: form.cleaned_data[column] for column in form.changed_columns}
        return "Added." if add else f"Changed {describe_changes(form.initial, after) or 'nothing'}."
