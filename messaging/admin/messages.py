"""Moderation of pending, published and hidden posts. Content is rendered as plain text."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString

from kernel.admin.actions import AdminAction
from kernel.admin.audit import log_entries_about
from kernel.admin.formatting import NOTHING, age, as_fields, change_url, external_link, lines, link, plain
from kernel.admin.queues import QueueSummary
from messaging.admin import review
from messaging.admin.desk.lists import DecidingAdmin
from messaging.admin.desk.saved import came_from, first_found
from messaging.admin.formatting import POST_BADGES, post_badge
from messaging.admin.message_lists import CSV_COLUMNS, FILTERS
from messaging.admin.moderation import DECISIONS, OTHERS
from messaging.admin.reports import DISMISS, REOPEN, REPORTS_SHOWN_MAX, with_open_reports
from messaging.admin.searching import condition_for, ids_with
from messaging.models import Ban, ClosedPage, Message, MessageStatus, Pin, ReasonFor
from messaging.models.message import EDITS_MAX
from messaging.services.versions import VERSION_DAYS

EXCERPT = 120
FIELDSETS: list[tuple[str | None, dict[str, list[str]]]] = [
    (None, {"fields": ["state", "text", "anchor", "tag", "files"]}),
    (
        "Where and who",
        {
            "fields": [
                "written_by",
                "written_as",
                "community",
                "on_page",
                "answers",
                "quotes",
                "posted",
                "edited",
                "imported",
            ]
        },
    ),
    ("Replies, quotes and reactions", {"fields": ["reply_count", "quote_count", "reaction_total"]}),
]
# Fields that are shown if their column is not empty.
OPTIONAL = {
    "anchor": "anchor_text",
    "tag": "tag_type",
    "files": "attachments",
    "answers": "parent",
    "quotes": "quote",
    "edited": "edited_at",
    "imported": "imported",
}
DECISIONS_SHOWN_MAX = 10
VERSIONS_SHOWN_MAX = EDITS_MAX + 1


@admin.register(Message)
class MessageAdmin(DecidingAdmin):
    row_actions = (*DECISIONS, DISMISS, REOPEN, *OTHERS)
    decides = ReasonFor.POST
    csv_columns = CSV_COLUMNS
    change_form_template = "admin/messaging/message.html"
    list_display = ["excerpt", "state", "review", "reported", "written_by", "community", "posted", "decide"]
    list_filter = FILTERS
    # Any other order would read all posts.
    sortable_by = ["posted"]
    search_fields = ["content"]
    search_help_text = (
        "Words of posts that are not deleted, part of the text of the newest 5,000, the id of a post or account, an "
        "@handle, or the id or URL of a page. A common word finds 1,000 posts."
    )
    readonly_fields = [
        *("excerpt", "written_by", "written_as", "state", "posted"),
        *("text", "anchor", "tag", "files", "on_page", "answers", "quotes", "edited"),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        bans = Ban.objects.filter(community=OuterRef("community_id"), account=OuterRef("author_id"))
        pins = Pin.objects.filter(message=OuterRef("pk"))
        closings = ClosedPage.objects.filter(page=OuterRef("page_id"), community=OuterRef("community_id"))
        posts = Message.objects.select_related("author", "community", "page", "parent__author", "quote__author")
        posts = posts.defer("community__blocked_words").annotate(
            is_banned=Exists(bans), is_pinned=Exists(pins), is_closed=Exists(closings)
        )
        return with_open_reports(posts)

    def prepare_rows(self, rows: list[Any]) -> None:
        review.prepare(rows)

    def review_template(self, row: Message) -> tuple[str, dict[str, Any]]:
        context = {
            "tag": self.tag(row) if row.tag_type else "",
            "files": self.files(row) if row.attachments else "",
            "page": self.on_page(row),
            "context": review.links_of(row),
            "author_actions": review.author_actions(row),
        }
        return "admin/messaging/review.html", context

    def state_of(self, row: Message) -> tuple[str, str]:
        return row.status, POST_BADGES.get(MessageStatus(row.status), "")

    def name_of(self, row: Message) -> str:
        return f"Post of {row.author}"

    def get_fieldsets(self, request: HttpRequest, obj: Message | None = None) -> list[Any]:
        """FIELDSETS without the optional fields that are empty."""
        empty = [name for name in OPTIONAL if obj is not None and not getattr(obj, OPTIONAL[name])]
        return [
            (title, {"fields": [name for name in options["fields"] if name not in empty]})
            for title, options in FIELDSETS
        ]

    def get_ordering(self, request: HttpRequest) -> list[Any]:
        """Newest first, by id; pending posts oldest first."""
        waiting = request.GET.get("status__exact") == MessageStatus.PENDING
        return ["created_at", "id"] if waiting else ["-id"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        condition = condition_for(term)
        if condition is None and term:
            condition = Q(pk__in=ids_with(term))
        return (queryset if condition is None else queryset.filter(condition)), False

    def queue_summary(self) -> QueueSummary:
        url = reverse("admin:messaging_message_changelist") + f"?status__exact={MessageStatus.PENDING}"
        return QueueSummary.of("posts to moderate", Message.objects.pending(), url)

    def title_for(self, row: Message) -> str:
        return f"{'Reply' if row.parent_id else 'Post'} of {row.author}"

    def status_text(self, row: Message) -> str:
        return str(row.status)

    def extra_context(self, request: HttpRequest, row: Message) -> dict[str, Any]:
        return {
            "log_entries": log_entries_about([row], latest=DECISIONS_SHOWN_MAX),
            "next_waiting": first_found(came_from(self, request), partial(review.next_waiting, row)),
            "reports": row.reports.select_related("reporter")[:REPORTS_SHOWN_MAX],
            "versions": row.versions.all()[:VERSIONS_SHOWN_MAX],
            "version_days": VERSION_DAYS,
        }

    def next_url(self, request: HttpRequest, action: AdminAction, row: Message) -> str:
        """The next pending post after a pending one, in the list from which the user came."""
        following = review.next_waiting(row, came_from(self, request)) if row.status == MessageStatus.PENDING else None
        return change_url(following or row)

    @admin.display(description="post")
    def excerpt(self, row: Message) -> str:
        text = str(row) if not row.content else row.content[:EXCERPT]
        return text + ("…" if len(row.content) > EXCERPT else "")

    @admin.display(description="author")
    def written_by(self, row: Message) -> str | SafeString:
        return link(row.author)

    @admin.display(description="author is")
    def written_as(self, row: Message) -> str:
        return "an agent" if row.author_kind == "agent" else "a person"

    @admin.display(description="state")
    def state(self, row: Message) -> SafeString:
        return post_badge(row)

    @admin.display(description="reports")
    def reported(self, row: Message) -> str:
        return str(row.open_reports or "")  # type: ignore[attr-defined]  # annotated

    @admin.display(description="age", ordering="id")
    def posted(self, row: Message) -> str | SafeString:
        return age(row.created_at)

    @admin.display(description="edited")
    def edited(self, row: Message) -> str | SafeString:
        return age(row.edited_at)

    @admin.display(description="text")
    def text(self, row: Message) -> str | SafeString:
        return plain(row.content)

    @admin.display(description="anchor text")
    def anchor(self, row: Message) -> str | SafeString:
        return plain(row.anchor_text)

    @admin.display(description="smart tag")
    def tag(self, row: Message) -> str | SafeString:
        return lines([row.tag_type, as_fields(row.payload)]) if row.tag_type else NOTHING

    @admin.display(description="attachments")
    def files(self, row: Message) -> str | SafeString:
        return lines([external_link(attachment["url"]) for attachment in row.attachments])

    @admin.display(description="page")
    def on_page(self, row: Message) -> str | SafeString:
        return external_link(row.page.normalized_url)

    @admin.display(description="reply to")
    def answers(self, row: Message) -> str | SafeString:
        return link(row.parent)

    @admin.display(description="quotes")
    def quotes(self, row: Message) -> str | SafeString:
        return link(row.quote)
