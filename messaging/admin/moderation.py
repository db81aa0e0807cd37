"""Admin actions and filters of moderation."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest

from config.admin.actions import AdminAction
from messaging.models import Message, MessageStatus
from messaging.services.moderation import approve_message, hide_message, restore_message
from messaging.smart_tags import SMART_TAGS

APPROVE = AdminAction(
    name="approve",
    label="Approve",
    confirmation="The post is public at once.",
    success_message="approved",
    run=lambda row, **arguments: approve_message(message_id=row.pk, **arguments),
    is_available=lambda row: row.status == MessageStatus.PENDING,
)
HIDE = AdminAction(
    name="hide",
    label="Hide",
    confirmation="The post is removed from every public list at once. It can be restored.",
    success_message="hidden",
    run=lambda row, **arguments: hide_message(message_id=row.pk, **arguments),
    is_available=lambda row: row.status in {MessageStatus.PENDING, MessageStatus.PUBLISHED},
    needs_reason=True,
)
RESTORE = AdminAction(
    name="restore",
    label="Restore",
    confirmation="The post is public again at once.",
    success_message="restored",
    run=lambda row, **arguments: restore_message(message_id=row.pk, **arguments),
    is_available=lambda row: row.status == MessageStatus.HIDDEN,
)


class TagFilter(SimpleListFilter):
    """Lists the smart tag types of the registry, without a query on all posts."""

    title = "smart tag"
    parameter_name = "tag_type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(tag_type, tag.title) for tag_type, tag in SMART_TAGS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Message]) -> QuerySet[Message]:
        return queryset.filter(tag_type=self.value()) if self.value() else queryset
