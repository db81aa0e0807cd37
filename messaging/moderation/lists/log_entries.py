from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from kernel.admin.formatting import age
from kernel.admin.model_admin import ReadOnlyModelAdmin


class KindFilter(admin.RelatedFieldListFilter):
    """Kinds of rows that have entries, each found by one entry in an index: a DISTINCT would read the whole log."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[Any]:
        entries = LogEntry.objects.filter(content_type=OuterRef("pk"))
        # In the order of the index `log_entries_about`: without one, PostgreSQL may search the log for a rare kind.
        first = Subquery(entries.order_by("object_id", "-id").values("pk")[:1])
        kinds = ContentType.objects.annotate(first=first).order_by("app_label", "model")
        return [(str(kind.pk), str(kind)) for kind in kinds if kind.first is not None]


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyModelAdmin):
    """All decisions made in the admin, by commands and through the API, with actor, time and reason."""

    list_display = ["when", "user", "about", "decision"]
    list_display_links = None
    list_filter = ["action_time", ("content_type", KindFilter)]
    list_select_related = ["user", "content_type"]
    search_fields = ["object_repr", "change_message", "user__handle"]
    search_help_text = "Part of the object's name, of a reason, or of a super admin's handle."
    ordering = ["-pk"]
    fields = ["when", "user", "about", "decision"]
    readonly_fields = ["when", "about", "decision"]

    @admin.display(description="when")
    def when(self, entry: LogEntry) -> str | SafeString:
        return age(entry.action_time)

    @admin.display(description="about")
    def about(self, entry: LogEntry) -> str | SafeString:
        kind, url = entry.content_type.name if entry.content_type else "", entry.get_admin_url()
        named = f"{kind} {entry.object_repr}"
        return format_html('<a href="{}">{}</a>', url, named) if url else named

    @admin.display(description="decision")
    def decision(self, entry: LogEntry) -> str:
        return entry.get_change_message()
