"""Reports of posts: what moderators see of them, and the decision that there is nothing to do."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString

from kernel.admin.actions import AdminAction
from kernel.admin.formatting import age, badge, link
from kernel.admin.model_admin import ReadOnlyModelAdmin
from kernel.admin.paginator import bounded_count
from kernel.admin.queues import QueueSummary
from messaging.models import Message, Report
from messaging.models.report import REPORTABLE, dismissed_reports, open_reports, reported_posts
from messaging.services.reporting import dismiss_reports, reopen_reports

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
REOPEN = AdminAction(
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
