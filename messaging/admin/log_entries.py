from __future__ import annotations

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.utils.html import format_html
from django.utils.safestring import SafeString

from config.admin.formatting import age
from config.admin.model_admin import ReadOnlyModelAdmin


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyModelAdmin):
    """All decisions made in the admin, by commands and through the API, with actor, time and reason."""

    list_display = ["when", "user", "about", "decision"]
    list_display_links = None
    list_filter = ["action_time", ("content_type", admin.RelatedOnlyFieldListFilter)]
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
