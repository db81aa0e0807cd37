"""Moderation of pending, published and hidden posts.

The list has filters, a CSV, the authors' histories and the reasons of open reports. Content is rendered as plain text.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString

from kernel.admin.actions import AdminAction
from kernel.admin.audit import log_entries_about
from kernel.admin.changelists import Columns, CountedChoices, QueueSummary, returning
from kernel.admin.formatting import NOTHING, age, as_fields, change_url, external_link, lines, link, plain
from kernel.database.sql import fetch_all
from messaging.markdown.html import to_plain
from messaging.models import AccountKind, Ban, ClosedPage, Message, MessageStatus, Pin, ReasonFor
from messaging.models.message import DRAFT, EDITS_MAX
from messaging.models.moderation import ReportReason
from messaging.moderation.admin import (
    DECISIONS,
    DISMISS,
    OTHERS,
    REOPEN_REPORTS,
    REPORTS_SHOWN_MAX,
    ReportedFilter,
    TagFilter,
    with_open_reports,
)
from messaging.moderation.lists.lists import (
    POST_BADGES,
    CommunityFilter,
    CreatedFilter,
    DecidingAdmin,
    condition_for,
    ids_with,
    post_badge,
)
from messaging.moderation.lists.many import came_from, first_found
from messaging.posts.editing import VERSION_DAYS

FILTERS: list[Any] = [
    *(("status", CountedChoices), ReportedFilter, "author_kind", TagFilter),
    *(("created_at", CreatedFilter), ("community", CommunityFilter)),
]
CSV_COLUMNS: Columns = {
    "id": lambda row: row.pk,
    "status": lambda row: row.status,
    "author": lambda row: row.author.handle,
    "author is": lambda row: row.author_kind,
    "community": lambda row: row.community and row.community.name,
    "page": lambda row: row.page_id,
    "reply to": lambda row: row.parent_id,
    "text": lambda row: row.content,
    "smart tag": lambda row: row.tag_type,
    "open reports": lambda row: row.open_reports,
    "posted at": lambda row: row.created_at.isoformat(),
}


LATEST = 50
# Each reads at most so many posts of an author, by the index of the author's posts.
HISTORIES = """
SELECT author.id, latest.posts, latest.hidden, latest.pending
FROM unnest(%s::uuid[]) AS author (id), LATERAL (
    SELECT count(*) AS posts, count(*) FILTER (WHERE status = 'hidden') AS hidden,
        count(*) FILTER (WHERE status = 'pending') AS pending
    FROM (SELECT status FROM messaging_message WHERE author_id = author.id ORDER BY id DESC LIMIT %s) posts
) latest
"""
REPORTS = """
SELECT message_id, reason, count(*) FROM messaging_report
WHERE message_id = ANY(%s) AND closed_at IS NULL GROUP BY message_id, reason ORDER BY count(*) DESC, reason
"""


class History(NamedTuple):
    """Of the author's LATEST posts."""

    posts: int = 0
    hidden: int = 0
    pending: int = 0

    def __str__(self) -> str:
        shown = f"{self.posts} posts" if self.posts < LATEST else f"latest {LATEST} posts"
        return f"{shown}: {self.hidden} hidden, {self.pending} pending"


def prepare(rows: Sequence[Any]) -> None:
    """Set `history` and `report_reasons` of each post, with two queries."""
    authors = list({row.author_id for row in rows})
    histories = {pk: History(*counts) for pk, *counts in fetch_all(HISTORIES, [authors, LATEST])}
    reasons: dict[object, list[str]] = {}
    for message_id, reason, count in fetch_all(REPORTS, [[row.pk for row in rows]]):
        reasons.setdefault(message_id, []).append(f"{ReportReason(reason).label}: {count}")
    for row in rows:
        row.history = histories.get(row.author_id, History())
        row.report_reasons = ", ".join(reasons.get(row.pk, []))


def author_actions(row: Any) -> list[tuple[str, str]]:
    """(text, URL) of the actions on the author, whose pages lead back to the list."""
    found: list[tuple[str, str, Any]] = []
    if row.author.is_of_service:
        return []
    if row.community_id is not None:
        name = "lift-ban" if row.is_banned else "ban"
        text = f"Lift the ban from {row.community}" if row.is_banned else f"Ban the author from {row.community}"
        found.append((text, f"messaging_message_{name}", row.pk))
    if row.author_kind == AccountKind.HUMAN:
        name = "suspend" if row.author.is_active else "unsuspend"
        found.append((name.capitalize(), f"messaging_account_{name}", row.author_id))
    found.append(("Hide all posts of the author", "messaging_account_hide-posts", row.author_id))
    return [(text, returning(reverse(f"admin:{name}", args=[pk]), to=row.list_url)) for text, name, pk in found]


def next_waiting(row: Message, among: QuerySet[Message] | None = None) -> Message | None:
    """The pending post after this one, else the oldest one; `among` the posts of a list with filters."""
    rows = Message.objects.all() if among is None else among
    waiting = rows.filter(status=MessageStatus.PENDING).exclude(DRAFT).exclude(pk=row.pk).order_by("created_at", "id")
    return waiting.filter(created_at__gte=row.created_at).first() or waiting.first()


def links_of(row: Message) -> dict[str, Message | None]:
    """The posts that give a post its context."""
    return {"in reply to": row.parent, "quoting": row.quote}


EXCERPT = 240
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
    row_actions = (*DECISIONS, DISMISS, REOPEN_REPORTS, *OTHERS)
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
        prepare(rows)

    def review_template(self, row: Message) -> tuple[str, dict[str, Any]]:
        context = {
            "tag": self.tag(row) if row.tag_type else "",
            "files": self.files(row) if row.attachments else "",
            "page": self.on_page(row),
            "context": links_of(row),
            "author_actions": author_actions(row),
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
            "next_waiting": first_found(came_from(self, request), partial(next_waiting, row)),
            "reports": row.reports.select_related("reporter")[:REPORTS_SHOWN_MAX],
            "versions": row.versions.all()[:VERSIONS_SHOWN_MAX],
            "version_days": VERSION_DAYS,
        }

    def next_url(self, request: HttpRequest, action: AdminAction, row: Message) -> str:
        """The next pending post after a pending one, in the list from which the user came."""
        following = next_waiting(row, came_from(self, request)) if row.status == MessageStatus.PENDING else None
        return change_url(following or row)

    @admin.display(description="post")
    def excerpt(self, row: Message) -> str:
        """The beginning without Markdown: the fold-out and the page of the post have the text as it was written."""
        text = " ".join(to_plain(row.content[: 2 * EXCERPT]).split()) if row.content else str(row)
        return text if len(text) <= EXCERPT else f"{text[:EXCERPT]}…"

    @admin.display(description="author")
    def written_by(self, row: Message) -> str | SafeString:
        return link(row.author)

    @admin.display(description="author is")
    def written_as(self, row: Message) -> str:
        return "an agent" if row.author_kind == "agent" else "a person"

    @admin.display(description="state")
    def state(self, row: Message) -> SafeString:
        return post_badge(row)

    @admin.display(description="reports", empty_value="")
    def reported(self, row: Message) -> str | None:
        count = row.open_reports  # type: ignore[attr-defined]  # annotated
        return f"{count} open report{'' if count == 1 else 's'}" if count else None

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
