"""Queries and responses of the change log."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar

from rest_framework import serializers

from kernel.api.exceptions import InvalidParameter
from kernel.api.fields import Boolean, Id, ListQuery, Text
from kernel.api.openapi.example_values import CURSOR, ID
from kernel.api.openapi.field_schemas import COMMON_TYPES
from kernel.changes.streams.opening import StreamQuery
from messaging.accounts.serializers import AccountSerializer
from messaging.changes.types import ChangeType, InboxType
from messaging.pages.page_ids import is_page_id
from messaging.posts.exceptions import page_id_needed
from messaging.posts.serializers import MessageQuery, PlainMessageSerializer
from messaging.serializer_fields import PageIdField, PageIdText

CHANGE_TYPES, INBOX_TYPES = list(ChangeType), list(InboxType)
COMMON_TYPES["ChangeType"] = {
    "type": "string",
    "enum": CHANGE_TYPES,
    "description": "What happened to a post or reaction.",
}
COMMON_TYPES["InboxType"] = {
    "type": "string",
    "enum": INBOX_TYPES,
    "description": "What happened to you.",
    "examples": [InboxType.REQUEST_DECIDED],
}


class TypesField(Text):
    """A comma-separated list of types, as a sorted list without duplicates."""

    def __init__(self, types: type[StrEnum], **kwargs: Any) -> None:
        self.types = types
        super().__init__(required=False, help_text="Those of the list, separated by commas.", **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        names = sorted(set(super().to_internal_value(data).split(",")))
        for name in names:
            if name not in set(self.types):
                message = f'Send in `{self.field_name}` only what `allowed` lists: "{name[:40]}" is not one of them.'
                raise InvalidParameter(message, field=self.field_name, allowed=list(self.types))
        return names


class ChangeFilters(MessageQuery):
    pageId = PageIdText(source="page_id", required=False, help_text="Of one page.")
    communityId = Id(source="community_id", required=False, help_text="Of one community.")
    types = TypesField(ChangeType)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "page_id" in attrs and not is_page_id(attrs["page_id"]):
            raise InvalidParameter(page_id_needed(attrs["page_id"]), field="pageId")
        if "page_id" in attrs and "community_id" in attrs:
            raise InvalidParameter("Send pageId or communityId, not both.", field="communityId")
        if "embed_id" in attrs and "community_id" in attrs:
            raise InvalidParameter("Send embedId or communityId, not both.", field="communityId")
        return attrs


class ChangesQuery(ChangeFilters, ListQuery):
    tail = Boolean(default=False, help_text="Nothing but the cursor after all.")


class ChangeStreamQuery(ChangeFilters, StreamQuery):
    pass


class ReactionSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"emoji": "👍"}
    id = serializers.UUIDField()
    emoji = serializers.CharField(help_text="The emoji.")
    author = AccountSerializer()
    createdAt = serializers.DateTimeField()


class ChangeSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "id": CURSOR,
        "communityId": None,
        "messageId": ID,
        "reaction": None,
        "posts": None,
    }
    id = serializers.CharField(help_text="The cursor after this change.")
    type = serializers.ChoiceField(choices=[change.value for change in ChangeType])
    at = serializers.DateTimeField()
    pageId = PageIdField()
    communityId = serializers.UUIDField(allow_null=True, help_text="null: no community.")
    messageId = serializers.UUIDField(allow_null=True, help_text="null: the whole page.")
    message = PlainMessageSerializer(allow_null=True, help_text="As it is now; null if not public.")
    reaction = ReactionSerializer(allow_null=True, help_text="As of the change; null if the post is not public.")
    posts = serializers.IntegerField(
        allow_null=True,
        help_text="Of `page.imported`; negative: removed again.",
    )


class FollowedSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"hasMore": False, "nextCursor": CURSOR}
    hasMore = serializers.BooleanField(help_text="Whether to ask again at once, also with fewer rows than `limit`.")
    nextCursor = serializers.CharField(help_text="Where to go on, also later.")


class ChangeListSerializer(FollowedSerializer):
    openapi_example: ClassVar[dict[str, Any]] = {}
    changes = ChangeSerializer(many=True, help_text="Oldest first.")
